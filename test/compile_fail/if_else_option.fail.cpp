// SPDX-License-Identifier: Apache-2.0
// An option that a layer of one form does not have, in the result of a branch. clang 14 adds an
// error of three lines.
// expect-error[gcc]: use of deleted function .*no_match<.*conv2d_attr>
// expect-error[clang]: no matching function for call to 'conv2d'
// expect-fact: conv2d_attr
// expect-errors[clang]: 2
// expect-lines[gcc]: 12
// expect-lines[clang]: 15
#include <lamina/layers/layers.hpp>
#include <lamina/program/program.hpp>

namespace layer = lamina::layer;

constexpr auto net = lamina::program([](lamina::block& main) {
  using layer::conv2d, layer::if_else;
  auto x = layer::data<"x", float, 1, 4, 4>(main);
  auto m = layer::data<"mask", bool, 1>(main);
  const auto no = [&](auto& a) { return conv2d<2, 3>(a.input(x)); };
#ifdef SHOULD_FAIL
  // clang-format off
  auto y = if_else(m, [&](auto& a) { return conv2d<2, 3>(a.input(x), {.a = 1}); }, no);  // <- here
  // clang-format on
#else
  auto y = if_else(
      m, [&](auto& a) { return conv2d<2, 3>(a.input(x), {.name = "y"}); }, no);
#endif
  return layer::mean(y);
});

int main() { return net.parameter_count() < 0; }
