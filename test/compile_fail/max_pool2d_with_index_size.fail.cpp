// SPDX-License-Identifier: Apache-2.0
// A window that is larger than the image.
// expect-error: static.assert.*max_pool2d_with_index: floating point images, one per row, into which
// expect-fact: expects<5, 5>
// expect-fact: variable<float, .*batch, 1, 4, 4>
// expect-lines: 12
#include <lamina/layers/data.hpp>
#include <lamina/operators/pool/pool3d/layer_unpool.hpp>
#include <lamina/program/program.hpp>

namespace layer = lamina::layer;

constexpr auto net = lamina::program([](lamina::block& main) {
  auto x = layer::data<"x", float, 1, 4, 4>(main);
#ifdef SHOULD_FAIL
  return std::get<0>(layer::max_pool2d_with_index<5>(x));  // <- here
#else
  return std::get<0>(layer::max_pool2d_with_index<4>(x));
#endif
});

int main() { return net.parameter_count() < 0; }
