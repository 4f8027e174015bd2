// SPDX-License-Identifier: Apache-2.0
// lamina/v2/data_home.hpp - the folder where PaddlePaddle v2 keeps its data sets.
#pragma once

#include <lamina/core/config.hpp>

#include <string>

#include <lamina/core/messages/error.hpp>
#include <lamina/core/system/system.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace v2::dataset::common {

/// Returns the folder of all data sets, ~/.cache/paddle/dataset. Throws lamina::error if the
/// environment variable HOME (on Windows, USERPROFILE) is not set. v2: dataset.common.DATA_HOME.
LAMINA_COLD inline std::string DATA_HOME() {
  const std::string home = lamina::detail::system::home_folder();
  if (home.empty())
    throw error("lamina: v2: dataset: expected the variable HOME of the environment, found none");
  return home + "/.cache/paddle/dataset";
}

}}}  // namespace lamina::v2::dataset::common
