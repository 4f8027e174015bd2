// SPDX-License-Identifier: Apache-2.0
// An operator of a program in double that computes in float alone.
// expect-error: static.assert.*a program in double: this computes in float alone
// expect-fact: bilinear_interp
// expect-lines: 12
#include <lamina/layers/data.hpp>
#include <lamina/layers/fc.hpp>
#include <lamina/layers/mean.hpp>
#include <lamina/layers/resize.hpp>
#include <lamina/model/evaluator.hpp>

namespace layer = lamina::layer;

constexpr auto net = lamina::program([](lamina::block& main) {
  auto image = layer::data<"image", double, 1, 8, 8>(main);
#ifdef SHOULD_FAIL
  return layer::mean(layer::resize_bilinear<lamina::extent2{4, 4}>(image));
#else
  return layer::mean(layer::fc<4>(image));
#endif
});

int main() {
  lamina::model m{net};
  lamina::evaluator e{m};  // <- here
}
