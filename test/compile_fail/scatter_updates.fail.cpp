// SPDX-License-Identifier: Apache-2.0
// Updates of another width than the entries that they replace.
// expect-error: static.assert.*scatter: one whole number per row, and an update for each
// expect-fact: variable<float, .*batch, 4>
// expect-fact: variable<float, .*batch, 3>
// expect-lines: 12
#include <lamina/layers/data.hpp>
#include <lamina/operators/embedding/gather/layer.hpp>
#include <lamina/program/program.hpp>

namespace layer = lamina::layer;

constexpr auto net = lamina::program([](lamina::block& main) {
  auto x = layer::data<"x", float, 4>(main);
  auto ids = layer::data<"ids", std::int64_t>(main);
  auto narrow = layer::data<"narrow", float, 3>(main);
  auto wide = layer::data<"wide", float, 4>(main);
#ifdef SHOULD_FAIL
  return (void)wide, layer::scatter(x, ids, narrow);  // <- here
#else
  return (void)narrow, layer::scatter(x, ids, wide);
#endif
});

int main() { return net.parameter_count() < 0; }
