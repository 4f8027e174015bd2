// SPDX-License-Identifier: Apache-2.0
// Labels of documents for scores of sentences.
// expect-error: static.assert.*warpctc: a sequence of one score per class and a sequence of whole
// expect-fact: gets_type<.*tokens<
// expect-lines: 12
#include <lamina/layers/sequence.hpp>
#include <lamina/operators/loss/ctc/layer.hpp>
#include <lamina/program/program.hpp>

namespace layer = lamina::layer;

constexpr auto net = lamina::program([](lamina::block& main) {
  auto x = layer::sequence<"x", float, 5>(main);
  auto label = layer::sequence<"label", std::int64_t>(main);
  auto one = layer::data<"one", std::int64_t>(main);
  (void)label, (void)one;
#ifdef SHOULD_FAIL
  return layer::warpctc(x, one);  // <- here
#else
  return layer::warpctc(x, label);
#endif
});

int main() { return net.parameter_count() < 0; }
