// SPDX-License-Identifier: Apache-2.0
// lamina/io/model_writer.hpp - the functions that model_files.hpp calls. They do not depend on the
// type of a program, so they are compiled once.
#pragma once

#include <lamina/core/config.hpp>

#include <string>
#include <vector>

#include <lamina/core/files/file.hpp>
#include <lamina/io/inference_files.hpp>
#include <lamina/io/model_values.hpp>
#if LAMINA_DEFINES
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>

#include <lamina/io/arrays/variable_files.hpp>
#include <lamina/io/copy_parameters.hpp>
#include <lamina/io/save_inference_model.hpp>
#include <lamina/transform/prune.hpp>
#endif

namespace lamina { inline namespace LAMINA_ABI { namespace detail {

/// Returns, for each target, the name of its variable: the output of a layer if the target is the
/// name of a layer, otherwise the target unchanged.
LAMINA_API std::vector<std::string> variables_named(const program_view& p,
                                                    const std::vector<std::string>& targets);
LAMINA_API void write_inference_model(const file_path& directory, const model_values& from,
                                      const std::vector<std::string>& targets,
                                      const inference_files& files);
LAMINA_API void write_persistables(const file_path& directory, const model_values& from,
                                   const std::string& filename);
LAMINA_API void read_persistables(const file_path& directory, const model_setter& to,
                                  const std::string& filename);

}}}  // namespace lamina::detail

#if LAMINA_DEFINES

namespace lamina { inline namespace LAMINA_ABI { namespace detail {

std::vector<std::string> variables_named(const program_view& p,
                                         const std::vector<std::string>& targets) {
  std::vector<std::string> variables;
  for (const std::string& name : targets) {
    const int v = find_variable(p, p.names, p.count.names, p.count.variables, name);
    variables.push_back(v < 0 ? name : variable_name(p, v));
  }
  return variables;
}

void write_inference_model(const file_path& directory, const model_values& from,
                           const std::vector<std::string>& targets, const inference_files& files) {
  scope parameters;
  copy_parameters(from, parameters);
  save_inference_model(directory, from.program, parameters, variables_named(from.program, targets),
                       files);
}

void write_persistables(const file_path& directory, const model_values& from,
                        const std::string& filename) {
  scope parameters;
  copy_parameters(from, parameters);
  save_variables(directory, parameters, parameters.names(), filename);
}

void read_persistables(const file_path& directory, const model_setter& to,
                       const std::string& filename) {
  struct wanted_value {
    std::string name;
    std::vector<std::int64_t> dims;
    dtype type;
  };
  std::vector<wanted_value> wanted;
  for (int i = 0; i < to.count; ++i) {
    const parameter_info info = to.describe(i);
    wanted.push_back({info.name, {info.shape.begin(), info.shape.end()}, info.type});
  }
  std::sort(wanted.begin(), wanted.end(),
            [](const wanted_value& a, const wanted_value& b) { return a.name < b.name; });
  std::vector<std::string> names;
  for (const wanted_value& w : wanted) names.push_back(w.name);
  std::vector<found_value> found = values_in(directory.string(), names, filename);
  scope parameters;
  for (std::size_t i = 0; i < names.size(); ++i) {
    require_type(found[i], names[i], wanted[i].type, wanted[i].dims);
    parameters.var(names[i]) = std::move(found[i].value);
  }
  copy_parameters(parameters, to);
}

}}}  // namespace lamina::detail

#endif  // LAMINA_DEFINES
