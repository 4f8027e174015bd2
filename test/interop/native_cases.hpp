// SPDX-License-Identifier: Apache-2.0
// The cases as C++: `interop_cases native FOLDER` writes FOLDER/native.cpp, whose programs were
// made from the files of the cases, and FOLDER/native.tsv, a line a case: its name, and why it is
// not among them. native.cpp runs them and compares with what the cases fetch.
#pragma once

#include <cstring>
#include <string>
#include <vector>

#include <lamina/executor/executor.hpp>
#include <lamina/io/arrays/variable_files.hpp>
#include <lamina/io/inference_model.hpp>
#include <lamina/program/program.hpp>

namespace interop {

int write_native_cases(const std::string& folder);

/// A program that was made from the files of a case.
struct native_case {
  const char* name;
  lamina::program_view program;
  bool in_double;
};

/// Runs a program with the inputs and parameters of its case; says what is not the same bits.
inline std::string difference(const std::string& folder, const native_case& made) {
  const std::string at = folder + "/" + made.name;
  const lamina::program_view& p = made.program;
  const auto read = [&](const std::string& from, const std::vector<std::string>& names,
                        lamina::scope& to) { lamina::load_variables(at + "/" + from, to, names); };
  std::vector<std::string> feeds, fetches, parameters;
  for (int i = 0; i < p.count.data; ++i) feeds.push_back(lamina::variable_name(p, p.data[i]));
  for (int i = 0; i < p.count.outputs; ++i)
    fetches.push_back(lamina::variable_name(p, p.outputs[i]));
  for (int i = 0; i < p.count.parameters; ++i)
    parameters.push_back(lamina::variable_name(p, p.parameters[i].variable));
  lamina::scope variables, inputs, values;
  read("parameters", parameters, variables);
  read("feed", feeds, inputs);
  lamina::feed_map feed;
  for (const std::string& name : feeds) feed[name] = inputs.get(name);
  lamina::executor single;
  lamina::basic_executor<double> twice;
  const std::vector<lamina::lod_tensor> found = made.in_double
                                                    ? twice.run(p, variables, feed, fetches)
                                                    : single.run(p, variables, feed, fetches);
  // What the file fetches, in the same order; names of results may have other numbers.
  const std::vector<std::string> wanted_names =
      lamina::load_program_desc(at + "/__model__").fetch_names();
  if (found.size() != wanted_names.size()) return "another number of results";
  read("fetch", wanted_names, values);
  for (std::size_t i = 0; i < found.size(); ++i) {
    const lamina::lod_tensor& wanted = values.get(wanted_names[i]);
    const std::size_t bytes =
        wanted.size() * static_cast<std::size_t>(lamina::size_of(wanted.type()));
    if (wanted.type() != found[i].type() || wanted.shape() != found[i].shape() ||
        wanted.lod() != found[i].lod() || std::memcmp(wanted.data(), found[i].data(), bytes) != 0)
      return "another value of '" + wanted_names[i] + "'";
  }
  return {};
}

}  // namespace interop
