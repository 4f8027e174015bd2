// SPDX-License-Identifier: Apache-2.0
// lamina/io/model_files.hpp - writes models to files that PaddlePaddle reads, and reads models from
// its files.
#pragma once

#include <lamina/core/config.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <lamina/io/inference_model.hpp>
#include <lamina/model/model.hpp>
#include <lamina/transform/prune.hpp>

namespace lamina::inline LAMINA_ABI {

/// Copies the parameters of a model to variables of a scope, which the executor and the file
/// writers use.
template <program_type P>
void copy_parameters(const model<P>& from, scope& to) {
  for (int i = 0; i < model<P>::parameter_arrays(); ++i)
    to.var(model<P>::describe(i).name) = tensor(from.get(i));
}

/// Sets the parameters of a model from variables of a scope. Throws lamina::error if a parameter is
/// missing or has another type or shape; the model then stays unchanged.
template <program_type P>
void copy_parameters(const scope& from, model<P>& to) {
  using real = real_of<P>;
  std::vector<const real*> values;
  for (int i = 0; i < model<P>::parameter_arrays(); ++i) {
    const parameter_info info = model<P>::describe(i);
    const lod_tensor& value = from.get(info.name);
    const tensor_shape shape(info.shape.begin(), info.shape.end());
    if (value.type() != info.type || value.shape() != shape)
      throw error("lamina: parameter " + info.name + ": expected " + name_of(info.type) + " " +
                  to_string(shape) + ", found " + name_of(value.type()) + " " +
                  to_string(value.shape()));
    values.push_back(value.template as<real>().data());
  }
  to.set_all(values.data());
}

namespace detail {

/// The variables of the named targets, which may be layers. A name that is neither a layer nor a
/// variable is returned unchanged.
inline std::vector<std::string> variables_named(const program_view& p,
                                                const std::vector<std::string>& targets) {
  std::vector<std::string> variables;
  for (const std::string& name : targets) {
    const int v = find_variable(p, p.names, p.count.names, p.count.variables, name);
    variables.push_back(v < 0 ? name : variable_name(p, v));
  }
  return variables;
}

}  // namespace detail

/// Writes the part of a model that computes `targets`, layers or variables by name, to a directory
/// that PaddlePaddle reads: `__model__` and the parameters. Fluid: save_inference_model.
template <program_type P>
void save_inference_model(const file_path& directory, const model<P>& from,
                          const std::vector<std::string>& targets,
                          const inference_files& files = {}) {
  const program_view p = P::view();
  scope parameters;
  copy_parameters(from, parameters);
  save_inference_model(directory, p, parameters, detail::variables_named(p, targets), files);
}
template <program_type P>
void save_inference_model(const file_path&, const P&,  // expects lamina::model{program}
                          const std::vector<std::string>& = {},
                          const inference_files& = {}) = delete;

/// Writes the parameters of a model, each to a file of its name, or all to `filename`.
/// Fluid: save_persistables.
template <program_type P>
void save_persistables(const file_path& directory, const model<P>& from,
                       const std::string& filename = "") {
  scope parameters;
  copy_parameters(from, parameters);
  save_variables(directory, parameters, parameters.names(), filename);
}
template <program_type P>
void save_persistables(const file_path&, const P&,  // expects lamina::model{program}
                       const std::string& = "") = delete;

/// Reads the parameters of a model, all or none. Throws format_error that names the file and the
/// variable for a value that is missing or has another type or shape than the model's. Fluid:
/// load_persistables.
template <program_type P>
void load_persistables(const file_path& directory, model<P>& to, const std::string& filename = "") {
  std::vector<std::pair<std::string, std::vector<std::int64_t>>> wanted;
  for (int i = 0; i < model<P>::parameter_arrays(); ++i) {
    const parameter_info info = model<P>::describe(i);
    wanted.emplace_back(info.name, std::vector<std::int64_t>(info.shape.begin(), info.shape.end()));
  }
  std::sort(wanted.begin(), wanted.end());
  std::vector<std::string> names;
  for (const auto& [name, dims] : wanted) names.push_back(name);
  std::vector<detail::found_value> found = detail::values_in(directory.string(), names, filename);
  scope parameters;
  for (std::size_t i = 0; i < names.size(); ++i) {
    detail::require_type(found[i], names[i], dtype_of<real_of<P>>, wanted[i].second);
    parameters.var(names[i]) = std::move(found[i].value);
  }
  copy_parameters(parameters, to);
}
template <program_type P>
void load_persistables(const file_path&, const P&,  // expects lamina::model{program}
                       const std::string& = "") = delete;

}  // namespace lamina::inline LAMINA_ABI
