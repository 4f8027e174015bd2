// SPDX-License-Identifier: Apache-2.0
// Compares programs that were made from files with the files, which the executor runs.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include <interop/minibatches.hpp>

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
/// says what is not the same bits of their results, and of the parameters after the run.
inline std::string difference(const std::string& folder, const native_case& made) {
  static lamina::executor single;
  static lamina::basic_executor<double> twice;
  const std::string at = folder + "/" + made.name;
  const lamina::program_view& p = made.program;
  const lamina::loaded_program file = lamina::load_program_desc(at + "/__model__");
  std::vector<std::string> feeds = file.feed_names();
  for (const std::string& name : fields_of(file)) feeds.push_back(name);
  lamina::scope inputs;
  lamina::load_variables(at + "/feed", inputs, feeds);
  lamina::feed_map feed;
  for (const std::string& name : feeds) feed[name] = inputs.get(name);
  std::vector<std::string> fetches, parameters;
  for (int i = 0; i < p.count.outputs; ++i)
    fetches.push_back(lamina::variable_name(p, p.outputs[i]));
  for (int v = 0; v < p.count.variables; ++v)  // counters of metrics too
    if (p.variables[v].persistable) parameters.push_back(lamina::variable_name(p, v));
  const auto run = [&](const lamina::program_view& q, lamina::scope& variables,
                       const std::vector<std::string>& names,
                       const std::vector<std::string>& results) {
    lamina::load_variables(at + "/parameters", variables, names);
    return made.in_double ? run_with_minibatches(twice, q, variables, feed, results)
                          : run_with_minibatches(single, q, variables, feed, results);
  };
  lamina::scope after, after_copy;
  const std::vector<std::string> kept = file.persistable_names();
  const std::vector<lamina::lod_tensor> wanted = run(file, after, kept, file.fetch_names());
  const std::vector<lamina::lod_tensor> found = run(p, after_copy, parameters, fetches);
  if (found.size() != wanted.size()) return "another number of results";
  for (std::size_t i = 0; i < found.size(); ++i)
    if (!same_bits(wanted[i], found[i])) return "another value of '" + fetches[i] + "'";
  for (const std::string& name : differing(after, after_copy, kept))
    return "another value of the parameter '" + name + "' after the run";
  return {};
}

}  // namespace interop
