// SPDX-License-Identifier: Apache-2.0
// lamina/io/inference_model.hpp - reads a program and its parameters from the files that Fluid's
// save_inference_model and save_persistables wrote.
#pragma once

#include <lamina/core/config.hpp>

#include <algorithm>
#include <cstddef>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <lamina/core/files/file.hpp>
#include <lamina/io/arrays/variable_files.hpp>
#include <lamina/io/inference_files.hpp>
#include <lamina/io/loaded_program.hpp>
#include <lamina/io/program_desc_proto.hpp>
#include <lamina/io/save_inference_model.hpp>
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

/// Reads a program from a file; executor.run can run it. Throws format_error for a damaged file.
/// Fluid: Program.parse_from_string.
inline loaded_program load_program_desc(const file_path& path,
                                        const operator_registry& known = known_operators()) {
  return loaded_program(from_proto(read_file(path.string()), path.string()), path.string(), known);
}

/// A program and its parameters, ready to run: `executor.run(m.program, *m.variables, feed)`
/// returns the targets.
struct inference_model {
  loaded_program program;
  std::unique_ptr<scope> variables;
};

/// Reads a directory that save_inference_model of lamina or Fluid wrote. Throws format_error for
/// damaged files.
inline inference_model load_inference_model(const file_path& directory,
                                            const inference_files& files = {},
                                            const operator_registry& known = known_operators()) {
  inference_model m{load_program_desc(directory.string() + "/" + files.program, known),
                    std::make_unique<scope>()};
  load_persistables(directory, *m.variables, m.program, files.parameters);
  return m;
}

}}  // namespace lamina
