// SPDX-License-Identifier: Apache-2.0
// Compares nets that were made from PaddlePaddle's files, as compiled programs, with what
// PaddlePaddle found.
#pragma once

#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include <lamina/io/arrays/lod_tensor_stream.hpp>
#include <lamina/io/model_files.hpp>
#include <lamina/io/safetensors.hpp>
#include <lamina/model/any_model.hpp>

namespace interop {

/// Runs a net with the parameters FOLDER/net.safetensors and the inputs FOLDER/feed; says what is
/// not as in FOLDER/fetch.
template <class Program>
std::string book_difference(const std::string& folder, Program net) {
  const auto value_in = [&](const std::string& path) {
    lamina::binary_reader from(folder + path);
    return lamina::read_lod_tensor(from, folder + path);
  };
  lamina::model m{net};
  lamina::load_safetensors(folder + "/net.safetensors", m);
  const lamina::any_model any{std::move(m)};
  const std::vector<lamina::any_variable> inputs = any.inputs();
  std::vector<lamina::lod_tensor> values;
  std::vector<std::vector<int>> lengths;
  for (const lamina::any_variable& input : inputs) {
    values.push_back(value_in("/feed/" + input.name));
    lengths.emplace_back();
    if (input.levels == 0) continue;
    const auto& offsets = values.back().lod().offsets(0);
    for (std::size_t i = 1; i < offsets.size(); ++i)
      lengths.back().push_back(static_cast<int>(offsets[i] - offsets[i - 1]));
  }
  std::vector<lamina::any_feed> feeds;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const std::string& name = inputs[i].name;
    if (values[i].type() == lamina::dtype::int64)
      feeds.emplace_back(name, static_cast<const std::int64_t*>(values[i].data()), values[i].size(),
                         lengths[i]);
    else
      feeds.emplace_back(name, static_cast<const float*>(values[i].data()), values[i].size(),
                         lengths[i]);
  }
  lamina::any_evaluator e = any.evaluator();
  e.forward(feeds);
  const lamina::program_view& p = Program::view();
  for (int r = 0; r < p.count.outputs; ++r) {
    const std::string name = lamina::variable_name(p, p.outputs[r]);
    const auto wanted = value_in("/fetch/" + std::to_string(r)).template cast<double>();
    std::vector<double> found;
    const auto take = [&](const auto& all) {
      for (std::size_t i = 0; i < all.size(); ++i)
        found.push_back(static_cast<double>(all.data()[i]));
    };
    if (p.variables[p.outputs[r]].type == lamina::dtype::int64)
      take(e.activation<std::int64_t>(name));
    else
      take(e.activation(name));
    if (found.size() != wanted.size())
      return name + ": " + std::to_string(found.size()) + " values here, " +
             std::to_string(wanted.size()) + " there";
    double largest = 1e-2, worst = 0;
    for (std::size_t i = 0; i < found.size(); ++i) {
      largest = std::max(largest, std::abs(wanted.flat(i)));
      const double error = std::abs(found[i] - wanted.flat(i));
      worst = error <= worst ? worst : error;  // NaN counts
    }
    if (!(worst <= 1e-5 * largest))
      return name + ": relative error " + std::to_string(worst / largest);
  }
  return {};
}

}  // namespace interop
