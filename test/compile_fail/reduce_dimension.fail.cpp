// SPDX-License-Identifier: Apache-2.0
// The dimension to sum over, given as an argument.
// expect-error[gcc]: use of deleted function .*no_match<lamina::layer::reduce_attr>
// expect-fact[gcc]: // call reduce_sum<1>\(x\)
// expect-error[clang]: no matching function for call to 'reduce_sum'
// expect-errors[clang]: 2
// expect-lines[gcc]: 12
// expect-lines[clang]: 12
#include <lamina/layers/data.hpp>
#include <lamina/operators/reduce/dimensions/layer.hpp>
#include <lamina/program/program.hpp>

namespace layer = lamina::layer;

constexpr auto net = lamina::program([](lamina::block& main) {
  auto x = layer::data<"x", float, 4>(main);
#ifdef SHOULD_FAIL
  return layer::reduce_sum(x, 1);  // <- here
#else
  return layer::reduce_sum<1>(x);
#endif
});

int main() { return net.parameter_count() != 0; }
