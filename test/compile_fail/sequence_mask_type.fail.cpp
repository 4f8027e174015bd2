// SPDX-License-Identifier: Apache-2.0
// Lengths that are not whole.
// expect-error: static.assert.*sequence_mask: lengths are whole numbers
// expect-fact: gets_type<.*variable<float, .*batch, 1>
// expect-lines: 12
#include <lamina/layers/sequence.hpp>
#include <lamina/operators/sequence/pad/layer_mask.hpp>
#include <lamina/program/program.hpp>

namespace layer = lamina::layer;

constexpr auto net = lamina::program([](lamina::block& main) {
  auto x = layer::data<"x", float>(main);
  auto length = layer::data<"length", std::int64_t>(main);
  (void)x, (void)length;
#ifdef SHOULD_FAIL
  return layer::sequence_mask<4>(x);  // <- here
#else
  return layer::sequence_mask<4>(length);
#endif
});

int main() { return net.parameter_count() < 0; }
