// SPDX-License-Identifier: Apache-2.0
// Offsets that are no whole numbers.
// expect-error: static.assert.*lod_reset: x has rows, and the offsets are whole numbers
// expect-fact: gets_type<.*variable<float, .*batch, 1>
// expect-lines: 12
#include <lamina/layers/sequence.hpp>
#include <lamina/operators/sequence/shape/layer.hpp>
#include <lamina/program/program.hpp>

namespace layer = lamina::layer;

constexpr auto net = lamina::program([](lamina::block& main) {
  auto x = layer::sequence<"x", float, 8>(main);
  auto real = layer::data<"real", float>(main);
  auto whole = layer::data<"whole", std::int64_t>(main);
#ifdef SHOULD_FAIL
  (void)whole;
  return layer::lod_reset<"y">(x, real);  // <- here
#else
  (void)real;
  return layer::lod_reset<"y">(x, whole);
#endif
});

int main() { return net.parameter_count() < 0; }
