// SPDX-License-Identifier: Apache-2.0
// An option that a layer of one form does not have, in the result of a branch that runs for all
// rows. clang 14 adds an error of three lines.
// expect-error[gcc]: use of deleted function .*no_match<.*conv2d_attr>
// expect-error[clang]: no matching function for call to 'conv2d'
// expect-fact: conv2d_attr
// expect-errors[clang]: 2
// expect-lines: 12
#include <lamina/layers/layers.hpp>
#include <lamina/program/program.hpp>

namespace layer = lamina::layer;

constexpr auto net = lamina::program([](lamina::block& main) {
  auto x = layer::data<"x", float, 1, 4, 4>(main);
  auto known = layer::fill_constant<bool>(main, true);
  const auto yes = [&](lamina::block&) {
#ifdef SHOULD_FAIL
    return layer::conv2d<2, 3>(x, {.a = 1});  // <- here
#else
    return layer::conv2d<2, 3>(x, {.name = "y"});
#endif
  };
  return layer::mean(
      layer::cond(known, yes, [&](lamina::block&) { return layer::conv2d<2, 3>(x); }));
});

int main() { return net.parameter_count() < 0; }
