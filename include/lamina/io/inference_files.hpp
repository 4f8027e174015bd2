// SPDX-License-Identifier: Apache-2.0
// lamina/io/inference_files.hpp - the names of the files of an inference model.
#pragma once

#include <lamina/core/config.hpp>

#include <string>

namespace lamina { inline namespace LAMINA_ABI {

/// The names of the files of an inference model.
struct inference_files {
  std::string program = "__model__";
  std::string parameters = "";  // one file with all parameters; empty: one file per parameter
};

}}  // namespace lamina
