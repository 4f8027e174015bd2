// SPDX-License-Identifier: Apache-2.0
// The probabilities of classes where a label is expected.
// expect-error: static.assert.*nce: float rows
// expect-lines: 12
#include <lamina/layers/data.hpp>
#include <lamina/layers/nce.hpp>
#include <lamina/program/program.hpp>

namespace layer = lamina::layer;

constexpr auto net = lamina::program([](lamina::block& main) {
  auto x = layer::data<"x", float, 9>(main);
  auto label = layer::data<"label", std::int64_t>(main);
#ifdef SHOULD_FAIL
  return layer::nce<20>(x, x);  // <- here
#else
  return layer::nce<20>(x, label);
#endif
});

int main() { return net.parameter_count() < 0; }
