// SPDX-License-Identifier: Apache-2.0
// Places of another type than int32.
// expect-error: static.assert.*unpool: floating point images, one per row, an int32 position for each
// expect-fact: variable<.*, .*batch, 1, 2, 2>
// expect-lines: 12
#include <lamina/layers/data.hpp>
#include <lamina/operators/pool/pool3d/layer_unpool.hpp>
#include <lamina/program/program.hpp>

namespace layer = lamina::layer;

constexpr auto net = lamina::program([](lamina::block& main) {
  auto x = layer::data<"x", float, 1, 2, 2>(main);
  auto wide = layer::data<"wide", std::int64_t, 1, 2, 2>(main);
  auto right = layer::data<"right", std::int32_t, 1, 2, 2>(main);
#ifdef SHOULD_FAIL
  return (void)right, layer::unpool<2>(x, wide);  // <- here
#else
  return (void)wide, layer::unpool<2>(x, right);
#endif
});

int main() { return net.parameter_count() < 0; }
