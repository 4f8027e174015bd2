// SPDX-License-Identifier: Apache-2.0
// lamina/io/persistables.hpp - reads and writes the persistable variables of a loaded program in
// Fluid's format: in one file per variable, or in one file for all variables.
#pragma once

#include <lamina/core/config.hpp>

#include <algorithm>
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include <lamina/core/files/file.hpp>
#include <lamina/io/arrays/variable_files.hpp>
#include <lamina/io/loaded_program.hpp>
#include <lamina/tensor/scope.hpp>

namespace lamina { inline namespace LAMINA_ABI {

/// Writes the persistable variables of a loaded program. Fluid: save_persistables.
inline void save_persistables(const file_path& directory, const scope& variables,
                              const loaded_program& program, const std::string& filename = "") {
  save_variables(directory, variables, program.persistable_names(), filename);
}

/// Reads the persistable variables of a program. Throws format_error that names the variable if a
/// value differs from the program in shape or type. Fluid: load_persistables.
inline void load_persistables(const file_path& directory, scope& variables,
                              const loaded_program& program, const std::string& filename = "") {
  std::vector<std::string> names = program.persistable_names();
  std::sort(names.begin(), names.end());
  std::vector<detail::found_value> found = detail::values_in(directory.string(), names, filename);
  for (std::size_t i = 0; i < names.size(); ++i) {
    const variable_message& wanted = *program.find(names[i]);
    detail::require_type(found[i], names[i], wanted.type, wanted.dims);
  }
  for (std::size_t i = 0; i < names.size(); ++i)
    variables.var(names[i]) = std::move(found[i].value);
}

}}  // namespace lamina
