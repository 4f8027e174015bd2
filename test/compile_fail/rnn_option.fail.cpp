// SPDX-License-Identifier: Apache-2.0
// An option that a layer of one form does not have, inside a step. clang 14 adds an error of three
// lines.
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
  using layer::conv2d, layer::dynamic_rnn;
  auto x = layer::sequence<"x", float, 1, 4, 4>(main);
  const auto in = [&](auto& step) { return step.input(x); };
#ifdef SHOULD_FAIL
  auto y = dynamic_rnn(x, [&](auto& s) { return conv2d<2, 3>(in(s), {.a = 1}); });  // <- here
#else
  auto y = dynamic_rnn(x, [&](auto& s) { return conv2d<2, 3>(in(s), {.name = "y"}); });
#endif
  return layer::mean(layer::sequence_pool(y));
});

int main() { return net.parameter_count() < 0; }
