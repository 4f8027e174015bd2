// SPDX-License-Identifier: Apache-2.0
// lamina/io/save_inference_model.hpp - writes a program and its parameters to a directory, in the
// form of Fluid's save_inference_model.
#pragma once

#include <lamina/core/config.hpp>

#include <string>
#include <vector>

#include <lamina/core/files/file.hpp>
#include <lamina/io/arrays/variable_files.hpp>
#include <lamina/io/fluid/prune_message.hpp>
#include <lamina/io/inference_files.hpp>
#include <lamina/io/program_desc_proto.hpp>
#include <lamina/tensor/scope.hpp>

namespace lamina { inline namespace LAMINA_ABI {

/// Writes the part of a program that computes `targets`, and the parameters that this part needs,
/// to a directory that PaddlePaddle can read. The program is written last, so a directory with a
/// program always has all its parameters. Throws lamina::error for a target that is not a variable,
/// a parameter without a value, and a parameter whose file would have the name of the program's
/// file. Fluid: save_inference_model.
inline void save_inference_model(const file_path& directory, const program_message& program,
                                 const scope& variables, const std::vector<std::string>& feeds,
                                 const std::vector<std::string>& targets,
                                 const inference_files& files = {}) {
  const program_message inference = inference_message(program, feeds, targets);
  std::vector<std::string> names;
  for (const variable_message& v : inference.blocks[0].variables)
    if (v.persistable && v.has_tensor()) names.push_back(v.name);
  for (const std::string& name : files.parameters.empty() ? names : std::vector{files.parameters})
    if (name == files.program)
      throw error("lamina: " + directory.string() +
                  ": expected different files for the program and the parameters, found '" + name +
                  "' for both");
  save_variables(directory, variables, names, files.parameters);
  write_file(directory.string() + "/" + files.program, to_proto(inference));
}

/// Does the same for a recorded program, for example `net.view()`; its parameters are in the scope
/// `variables`.
inline void save_inference_model(const file_path& directory, const program_view& program,
                                 const scope& variables, const std::vector<std::string>& targets,
                                 const inference_files& files = {}) {
  std::vector<std::string> feeds;
  for (int i = 0; i < program.count.data; ++i)
    feeds.push_back(variable_name(program, program.data[i]));
  save_inference_model(directory, to_program_message(program), variables, feeds, targets, files);
}

}}  // namespace lamina
