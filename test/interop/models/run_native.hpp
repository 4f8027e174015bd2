// SPDX-License-Identifier: Apache-2.0
// Runs programs that were converted from ONNX files to C++, for run_onnx_native.py.
#pragma once

#include <cstddef>
#include <cstdio>
#include <exception>
#include <fstream>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <lamina/engine/cpu/memory/array_layout.hpp>
#include <lamina/io/npy.hpp>
#include <lamina/io/safetensors.hpp>
#include <lamina/model/any_model.hpp>
#include <lamina/model/model.hpp>

/// The lines of a file; none if there is no such file.
inline std::vector<std::string> lines_of(const std::string& path) {
  std::vector<std::string> lines;
  std::ifstream from(path);
  for (std::string line; std::getline(from, line);) lines.push_back(line);
  return lines;
}

/// Runs a program with the values in `folder`/feed and writes the outputs that `folder`/outputs
/// names to `folder`/native. Values of inputs that `folder`/fixed names are part of the program.
inline void run_native(lamina::any_model model, const std::string& folder) {
  const std::vector<std::string> names = lines_of(folder + "/feed/names"),
                                 all_fixed = lines_of(folder + "/fixed");
  const std::set<std::string> fixed(all_fixed.begin(), all_fixed.end());
  std::vector<lamina::tensor> values;
  for (std::size_t i = 0; i < names.size(); ++i)
    values.push_back(lamina::load_npy(folder + "/feed/" + std::to_string(i) + ".npy"));
  std::vector<lamina::any_feed> feeds;
  for (std::size_t i = 0; i < names.size(); ++i)
    if (fixed.count(names[i]) == 0 && values[i].size() > 0)
      values[i].visit([&](const auto& elements) {
        feeds.emplace_back(names[i], elements.data(), elements.size());
      });
  lamina::any_evaluator e = model.evaluator();
  e.forward(feeds);
  std::size_t n = 0;
  for (const std::string& name : lines_of(folder + "/outputs")) {
    const std::string file = folder + "/native/" + std::to_string(n++) + ".npy";
    bool found = false;
    for (const lamina::any_variable& v : model.outputs()) {
      if (v.name != name || std::exchange(found, true)) continue;
      lamina::engine::cpu::with_type(v.type, [&]<class T>(T) {
        lamina::save_npy(file, lamina::tensor(e.activation<T>(name)).cast(v.type));
      });
    }
    if (!found) throw lamina::error("expected an output '" + name + "', found none");
  }
}

/// Runs one case and prints its folder, a tab, and "ran" or why there is no result.
template <class Net>
void run_native_case(const Net& net, const std::string& folder) {
  std::string result = "ran";
  try {
    lamina::model model{net};
    lamina::load_safetensors(folder + "/net.safetensors", model);
    run_native(std::move(model), folder);
  } catch (const std::exception& e) {
    result = e.what();
    for (char& c : result)
      if (c == '\n' || c == '\t') c = ' ';
  }
  std::printf("%s\t%s\n", folder.c_str(), result.c_str());
  std::fflush(stdout);
}
