// SPDX-License-Identifier: Apache-2.0
// lamina/benchmarks/networks/recurrence.hpp - records the network of workload W4.
#pragma once

#include <tuple>

#include <lamina/layers/layers.hpp>

namespace networks {

namespace layer = lamina::layer;

/// W4: a recurrence written by hand, h = tanh(x_t Wx + h Wh + b), of width 64.
inline constexpr int recurrence_width = 64;
constexpr auto recurrence(lamina::block& main) {
  constexpr int width = recurrence_width;
  auto x = layer::sequence<"x", float, width>(main);
  auto y = layer::data<"y", float, width>(main);
  auto h = layer::dynamic_rnn(x, [&](auto& step) {
    auto before = step.memory(lamina::dims<width>);
    auto next = layer::tanh(layer::fc<width>(std::tuple{step.input(x), before}));
    step.update(before, next);
    return step.last(before);
  });
  return layer::mean(layer::square_error_cost(h, y));
}

}  // namespace networks
