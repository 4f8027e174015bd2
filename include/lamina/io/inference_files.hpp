// SPDX-License-Identifier: Apache-2.0
// lamina/io/inference_files.hpp - the names of the files of an inference model.
#pragma once

#include <lamina/core/config.hpp>

#include <string>

namespace lamina { inline namespace LAMINA_ABI {

/// The names of the files of an inference model.
struct inference_files {
  std::string program = "__model__";
  // The file of all parameters; if empty, there is one file per parameter.
  std::string parameters = "";
};

}}  // namespace lamina
