// SPDX-License-Identifier: Apache-2.0
// An option that reduce_sum does not have: what it is called and what there is stand in the
// message.
// expect-error[gcc]: use of deleted function .*no_match<lamina::layer::reduce_attr>
// expect-error[clang]: no matching function for call to 'reduce_sum'
// expect-fact: reduce_attr
// expect-fact: keep_dim
// expect-fact[gcc]: options: name
// expect-errors[clang]: 2
// expect-lines: 12
#include <lamina/layers/layers.hpp>
#include <lamina/program/program.hpp>

namespace layer = lamina::layer;

constexpr auto net = lamina::program([](lamina::block& main) {
  auto x = layer::data<"x", float, 4, 3>(main);
#ifdef SHOULD_FAIL
  return layer::reduce_sum<1>(x, {.keep_dim = true});  // <- here
#else
  return layer::reduce_sum<1>(x, layer::keep_dim);
#endif
});

int main() { return net.parameter_count() < 0; }
