// SPDX-License-Identifier: Apache-2.0
// A static evaluator copies an activation to a data layer of another shape.
// expect-error: static.assert.*static_evaluator: feed_back: the activation has the shape
// expect-fact: expects<8>
// expect-fact: gets<4>
// expect-lines: 14
#include <lamina/lamina.hpp>

namespace layer = lamina::layer;

constexpr auto net = lamina::program([](lamina::block& main) {
  auto x = layer::data<"x", float, 8>(main);
  layer::fc<8>(x, {.name = "same"});
  return layer::fc<4>(x, {.name = "other"});
});

int main() {
  static lamina::static_evaluator<decltype(net)> e;
  e.forward();
#ifdef SHOULD_FAIL
  e.feed_back<"other", "x">();  // <- here
#else
  e.feed_back<"same", "x">();
#endif
}
