// SPDX-License-Identifier: Apache-2.0
// lamina/v2/data_home.hpp - the folder where PaddlePaddle v2 keeps its data sets.
#pragma once

#include <lamina/core/config.hpp>

#include <cstdlib>
#include <string>

#include <lamina/core/messages/error.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace v2::dataset::common {

/// Returns the folder of all data sets, ~/.cache/paddle/dataset. Throws lamina::error if the
/// environment variable HOME is not set. v2: dataset.common.DATA_HOME.
LAMINA_COLD inline std::string DATA_HOME() {
  const char* const home = std::getenv("HOME");  // NOLINT: v2, too, expands ~
  if (home == nullptr || *home == '\0')
    throw error("lamina: v2: dataset: expected the variable HOME of the environment, found none");
  return std::string(home) + "/.cache/paddle/dataset";
}

}}}  // namespace lamina::v2::dataset::common
