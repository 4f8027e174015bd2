// SPDX-License-Identifier: Apache-2.0
// Labels that are floating point numbers.
// expect-error: static.assert.*softmax_with_cross_entropy: labels are one int64 per row
// expect-fact: expects_type<.*variable<long( int)?, .*batch, 1>
// expect-fact: gets_type<.*variable<float, .*batch, 1>
// expect-lines: 12
#include <lamina/layers/data.hpp>
#include <lamina/operators/elementwise/assign/layer.hpp>
#include <lamina/operators/loss/cross_entropy/layer_softmax.hpp>
#include <lamina/program/program.hpp>

namespace layer = lamina::layer;

constexpr auto net = lamina::program([](lamina::block& main) {
  auto x = layer::data<"x", float, 10>(main);
  auto label = layer::data<"label", float, 1>(main);
#ifdef SHOULD_FAIL
  return layer::softmax_with_cross_entropy(x, label);  // <- here
#else
  return layer::softmax_with_cross_entropy(x, layer::cast<std::int64_t>(label));
#endif
});

int main() { return net.parameter_count() < 0; }
