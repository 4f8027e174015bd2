// SPDX-License-Identifier: Apache-2.0
// What holds at edge values, such as zeros, infinities and numbers around 1e20: the compiled engine
// has the executor's infinities and its NaN, and each number to its own digits, not to those of the
// largest.
#pragma once

#include <cmath>
#include <limits>
#include <vector>

#include <laws/engine_law.hpp>

namespace lamina::law {

/// Feeds data variable i, in the order in which they were recorded, with `given[i]`, then compares
/// outputs and gradients with the executor's in float, each to its own digits but for `margin`.
/// Returns all of them as the engine has them.
template <class P>
std::vector<std::vector<double>> check_edges(P, const std::vector<std::vector<double>>& given,
                                             int rows, double tolerance = 1e-5, double margin = 0) {
  using run_type = engine_run<std::remove_const_t<P>>;
  run_type run(engine_law_options{});
  run.draw(rows);
  REQUIRE(static_cast<int>(given.size()) == run_type::desc.count.data);
  for (std::size_t i = 0; i < given.size(); ++i) {
    fed_values& feed = run.feed(static_cast<int>(i));
    const lod sequences = feed.value.lod();
    engine::cpu::with_type(run_type::desc.variables[run_type::desc.data[i]].type, [&]<class T>(T) {
      REQUIRE(feed.bytes.size() == given[i].size() * sizeof(T));
      T* const to = reinterpret_cast<T*>(feed.bytes.data());
      for (std::size_t j = 0; j < given[i].size(); ++j) to[j] = static_cast<T>(given[i][j]);
      feed.value = tensor(feed.value.shape(), to);
    });
    feed.value.set_lod(sequences);
  }
  const std::vector<int> wanted = run_type::looked_at();
  const std::vector<lod_tensor> expected = run.template run_executor<float>(wanted);
  run.run_engine(0, rows);
  std::vector<std::vector<double>> all;
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    INFO("variable " << name_of(run_type::program::view(), wanted[i]));
    all.push_back(run.on_engine(wanted[i]));
    const xt::xarray<double> e = expected[i].template cast<double>();
    REQUIRE(all[i].size() == e.size());
    for (std::size_t j = 0; j < e.size(); ++j) {
      const double a = all[i][j], b = e.flat(j);
      INFO("element " << j << ": the engine has " << a << ", the executor " << b);
      const bool same = std::isnan(b) ? std::isnan(a)
                        : std::isinf(b)
                            ? a == b
                            : std::abs(a - b) <= margin + tolerance * std::abs(b) +
                                                     tolerance * std::numeric_limits<float>::min();
      CHECK(same);
    }
  }
  return all;
}

}  // namespace lamina::law
