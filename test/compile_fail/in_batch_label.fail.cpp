// SPDX-License-Identifier: Apache-2.0
// Labels that are real numbers.
// expect-error: lamina: in_batch_cross_entropy: a row has one label, an int64
// expect-fact: gets_type<.*variable<float, .*batch, 1>
#include <lamina/layers/data.hpp>
#include <lamina/operators/loss/in_batch/layer.hpp>
#include <lamina/program/program.hpp>

namespace layer = lamina::layer;

constexpr auto net = lamina::program([](lamina::block& main) {
  auto x = layer::data<"x", float, 3>(main);
  auto y = layer::data<"y", float, 3>(main);
#ifdef SHOULD_FAIL
  auto label = layer::data<"label", float>(main);
#else
  auto label = layer::data<"label", std::int64_t>(main);
#endif
  return layer::in_batch_cross_entropy(x, y, label);  // <- here
});

int main() { return net.desc.count.operators > 0 ? 0 : 1; }
