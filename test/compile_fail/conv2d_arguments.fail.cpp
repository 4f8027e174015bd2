// SPDX-License-Identifier: Apache-2.0
// Numbers that are template arguments of a layer of one overload, given as arguments.
// expect-error[gcc]: use of deleted function .*no_match<lamina::layer::conv2d_attr>
// expect-fact[gcc]: // call conv2d<8, 3>\(image\)
// expect-error[clang]: no matching function for call to 'conv2d'
// expect-errors[clang]: 2
// expect-lines[gcc]: 12
// expect-lines[clang]: 12
#include <lamina/layers/data.hpp>
#include <lamina/operators/conv/layer_conv2d.hpp>
#include <lamina/program/program.hpp>

namespace layer = lamina::layer;

constexpr auto net = lamina::program([](lamina::block& main) {
  auto x = layer::data<"x", float, 1, 4, 4>(main);
#ifdef SHOULD_FAIL
  return layer::conv2d(x, 2, 3);  // <- here
#else
  return layer::conv2d<2, 3>(x);
#endif
});

int main() { return net.parameter_count() == 0; }
