// SPDX-License-Identifier: Apache-2.0
// Runs the program of a net for signals block by block, with its states.
#pragma once

#include <algorithm>
#include <cstddef>
#include <map>
#include <string>
#include <vector>

#include <executor/shared_executor.hpp>

#include <lamina/io/inference_model.hpp>

namespace stream_run {

/// Returns the result for a signal of `channels` values per sample, sample after sample.
inline std::vector<float> run(const lamina::inference_model& m, const std::vector<float>& signal) {
  const auto shape_of = [&](const std::string& name) {
    auto dims = m.program.find(name)->dims;
    dims[0] = 1;
    return lamina::tensor_shape(dims.begin(), dims.end());
  };
  std::map<std::string, lamina::tensor> now;
  for (const std::string& name : m.program.feed_names()) {
    lamina::array<float> zeros(shape_of(name));
    std::fill(zeros.begin(), zeros.end(), 0.F);
    now[name] = lamina::tensor(zeros);
  }
  const std::vector<std::string> fetches = m.program.fetch_names();
  const lamina::tensor_shape shape = shape_of("x");
  const std::size_t channels = shape[1], block = shape.size() == 2 ? 1 : shape[3];
  std::vector<float> result;
  lamina::executor executor;
  for (std::size_t t = 0; t + block * channels <= signal.size(); t += block * channels) {
    lamina::array<float> x(shape);
    for (std::size_t c = 0; c < channels; ++c)
      for (std::size_t i = 0; i < block; ++i)
        x.data()[c * block + i] = signal[t + i * channels + c];
    now["x"] = lamina::tensor(x);
    lamina::feed_map feed;
    for (const auto& [name, value] : now) feed[name] = value;
    const auto found = executor.run(m.program, *m.variables, feed, fetches);
    for (std::size_t f = 0; f < fetches.size(); ++f) {
      if (fetches[f] != "y") {
        now[fetches[f].substr(0, fetches[f].size() - 5)] = found[f];
        continue;
      }
      const lamina::tensor& made = found[f];
      const lamina::array<float> y = made.cast<float>();
      const std::size_t wide = y.size() / block;
      for (std::size_t i = 0; i < block; ++i)
        for (std::size_t c = 0; c < wide; ++c) result.push_back(y.data()[c * block + i]);
    }
  }
  return result;
}

}  // namespace stream_run
