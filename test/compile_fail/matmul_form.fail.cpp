// SPDX-License-Identifier: Apache-2.0
// A member that matmul_form does not have. g++ adds two errors, and why matmul takes no such form.
// expect-error: transposed_y
// expect-fact: matmul_form
// expect-errors[gcc]: 3
// expect-errors[clang]: 2
// expect-lines[gcc]: 17
#include <lamina/lamina.hpp>

namespace layer = lamina::layer;

constexpr auto net = lamina::program([](lamina::block& main) {
  auto x = layer::data<"x", float, 4>(main);
#ifdef SHOULD_FAIL
  auto y = layer::matmul<layer::matmul_form{.transposed_y = true}>(x, x);  // <- here
#else
  auto w = layer::create_parameter<float, 3, 4>(main);
  auto y = layer::matmul<layer::matmul_form{.transpose_y = true}>(x, w);
#endif
  return layer::mean(y);
});

int main() { return net.parameter_count() < 0; }
