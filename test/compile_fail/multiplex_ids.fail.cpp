// SPDX-License-Identifier: Apache-2.0
// Choices of another kind of rows than what they choose from.
// expect-error: static.assert.*multiplex: one whole number for each row of the inputs
// expect-fact: variable<float, .*batch, 4>
// expect-fact: variable<float, .*batch, 1>
// expect-lines: 12
#include <lamina/layers/data.hpp>
#include <lamina/operators/embedding/gather/layer_multiplex.hpp>
#include <lamina/program/program.hpp>

namespace layer = lamina::layer;

constexpr auto net = lamina::program([](lamina::block& main) {
  auto x = layer::data<"x", float, 4>(main);
  auto y = layer::data<"y", float, 4>(main);
  auto scores = layer::data<"scores", float, 1>(main);
  auto ids = layer::data<"ids", std::int64_t>(main);
#ifdef SHOULD_FAIL
  return (void)ids, layer::multiplex({x, y}, scores);  // <- here
#else
  return (void)scores, layer::multiplex({x, y}, ids);
#endif
});

int main() { return net.parameter_count() < 0; }
