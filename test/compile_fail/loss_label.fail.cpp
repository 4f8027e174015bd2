// SPDX-License-Identifier: Apache-2.0
// A cost without labels.
// expect-error[gcc]: use of deleted function .*no_match<.*softmax_with_cross_entropy_attr>
// expect-fact[gcc]: // call softmax_with_cross_entropy.logits, label.
// expect-error[clang]: no matching function for call to 'softmax_with_cross_entropy'
// expect-errors[clang]: 2
// expect-lines: 12
#include <lamina/layers/layers.hpp>
#include <lamina/program/program.hpp>

namespace layer = lamina::layer;

constexpr auto net = lamina::program([](lamina::block& main) {
  auto x = layer::data<"x", float, 4>(main);
  auto label = layer::data<"label", std::int64_t>(main);
#ifdef SHOULD_FAIL
  auto costs = layer::softmax_with_cross_entropy(x);  // <- here
#else
  auto costs = layer::softmax_with_cross_entropy(x, label);
#endif
  return layer::mean(costs);
});

int main() { return net.parameter_count() < 0; }
