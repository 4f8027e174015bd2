// SPDX-License-Identifier: Apache-2.0
// A program whose sequences get their lengths from an operator, given to the engine.
// expect-error: static.assert.*plan: the engine knows the length of sequences only when they are fed
// expect-fact: named<'k', 'e', 'p', 't'>
// expect-lines: 14
#include <lamina/layers/layers.hpp>
#include <lamina/plan/plan.hpp>

namespace layer = lamina::layer;

constexpr auto net = lamina::program([](lamina::block& main) {
  auto word = layer::sequence<"word", std::int64_t>(main);
#ifdef SHOULD_FAIL
  auto kept = layer::sequence_erase<"kept">(word, {3});
#else
  auto kept = word;
#endif
  return layer::mean(layer::embedding<9, 4>(kept));
});

int main() { return lamina::plan<std::remove_const_t<decltype(net)>>::groups < 0; }  // <- here
