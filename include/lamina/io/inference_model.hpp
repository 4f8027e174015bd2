// SPDX-License-Identifier: Apache-2.0
// lamina/io/inference_model.hpp - reads a directory with a program and its parameters that Fluid's
// save_inference_model wrote.
#pragma once

#include <lamina/core/config.hpp>

#include <memory>
#include <string>

#include <lamina/core/files/file.hpp>
#include <lamina/io/inference_files.hpp>
#include <lamina/io/loaded_program.hpp>
#include <lamina/io/persistables.hpp>
#include <lamina/io/program_desc_proto.hpp>
#include <lamina/io/save_inference_model.hpp>
#include <lamina/tensor/scope.hpp>

namespace lamina { inline namespace LAMINA_ABI {

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
