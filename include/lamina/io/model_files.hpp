// SPDX-License-Identifier: Apache-2.0
// lamina/io/model_files.hpp - writes models to files that PaddlePaddle reads, and reads parameters
// from its files. inference_model.hpp reads programs.
#pragma once

#include <lamina/core/config.hpp>

#include <string>
#include <vector>

#include <lamina/core/files/file.hpp>
#include <lamina/io/inference_files.hpp>
#include <lamina/io/model_values.hpp>
#include <lamina/io/model_writer.hpp>

namespace lamina { inline namespace LAMINA_ABI {

/// Writes the part of a model that computes `targets`, names of layers or variables, to a directory
/// that PaddlePaddle can read: the file `__model__` with the program, and the files of the
/// parameters. Fluid: save_inference_model.
template <program_type P>
void save_inference_model(const file_path& directory, const model<P>& from,
                          const std::vector<std::string>& targets,
                          const inference_files& files = {}) {
  detail::write_inference_model(directory, values_of(from), targets, files);
}
template <program_type P>
void save_inference_model(const file_path&, const P&,  // expects lamina::model{program}
                          const std::vector<std::string>& = {},
                          const inference_files& = {}) = delete;

/// Writes the parameters of a model to a directory, each to a file with its name or, if `filename`
/// is not empty, all to this file. Fluid: save_persistables.
template <program_type P>
void save_persistables(const file_path& directory, const model<P>& from,
                       const std::string& filename = "") {
  detail::write_persistables(directory, values_of(from), filename);
}
template <program_type P>
void save_persistables(const file_path&, const P&,  // expects lamina::model{program}
                       const std::string& = "") = delete;

/// Reads the parameters of a model from files that save_persistables wrote. Throws format_error
/// that names the file and the variable if a value is missing or differs from the model in type or
/// shape; the model is then unchanged. Fluid: load_persistables.
template <program_type P>
void load_persistables(const file_path& directory, model<P>& to, const std::string& filename = "") {
  detail::read_persistables(directory, setter_of(to), filename);
}
template <program_type P>
void load_persistables(const file_path&, const P&,  // expects lamina::model{program}
                       const std::string& = "") = delete;

}}  // namespace lamina
