// SPDX-License-Identifier: Apache-2.0
// Compares programs that were made from files with the files, which the executor runs.
#pragma once

#include <cstring>
#include <string>
#include <vector>

#include <lamina/executor/executor.hpp>
#include <lamina/io/inference_model.hpp>

namespace interop {

/// A program that was made from the files of a case.
struct native_case {
  const char* name;
  lamina::program_view program;
  bool in_double;
};

/// Runs a program and the file that it was made from, with the inputs and parameters of the case;
/// says what is not the same bits.
inline std::string difference(const std::string& folder, const native_case& made) {
  static lamina::executor single;
  static lamina::basic_executor<double> twice;
  const std::string at = folder + "/" + made.name;
  const lamina::program_view& p = made.program;
  const lamina::loaded_program file = lamina::load_program_desc(at + "/__model__");
  lamina::scope inputs;
  lamina::load_variables(at + "/feed", inputs, file.feed_names());
  lamina::feed_map feed;
  for (const std::string& name : file.feed_names()) feed[name] = inputs.get(name);
  std::vector<std::string> fetches, parameters;
  for (int i = 0; i < p.count.outputs; ++i)
    fetches.push_back(lamina::variable_name(p, p.outputs[i]));
  for (int v = 0; v < p.count.variables; ++v)  // counters of metrics too
    if (p.variables[v].persistable) parameters.push_back(lamina::variable_name(p, v));
  const auto run = [&](const lamina::program_view& q, const std::vector<std::string>& names,
                       const std::vector<std::string>& results) {
    lamina::scope variables;
    lamina::load_variables(at + "/parameters", variables, names);
    return made.in_double ? twice.run(q, variables, feed, results)
                          : single.run(q, variables, feed, results);
  };
  const std::vector<lamina::lod_tensor> wanted =
      run(file, file.persistable_names(), file.fetch_names());
  const std::vector<lamina::lod_tensor> found = run(p, parameters, fetches);
  if (found.size() != wanted.size()) return "another number of results";
  for (std::size_t i = 0; i < found.size(); ++i) {
    const lamina::lod_tensor& x = wanted[i];
    const std::size_t bytes = x.size() * static_cast<std::size_t>(lamina::size_of(x.type()));
    if (x.type() != found[i].type() || x.shape() != found[i].shape() || x.lod() != found[i].lod() ||
        std::memcmp(x.data(), found[i].data(), bytes) != 0)
      return "another value of '" + fetches[i] + "'";
  }
  return {};
}

}  // namespace interop
