// SPDX-License-Identifier: Apache-2.0
// A generator, which is one pass, where the reader belongs.
// expect-error: static.assert.*reader: expected a reader: a copyable range, or a callable
// expect-fact: gets_type<.*generator
// expect-lines: 11
#include <lamina/lamina.hpp>

namespace layer = lamina::layer;

lamina::generator<std::vector<std::array<float, 2>>> batches() { co_yield {}; }

constexpr auto net = lamina::program([](lamina::block& main) {
  auto x = layer::data<"x", float, 2>(main);
  return layer::mean(layer::fc<1>(x, {.name = "output"}));
});

int main() {
  lamina::model m{net};
  lamina::evaluator e{m};
#ifdef SHOULD_FAIL
  auto result = e.test(batches());  // <- here
#else
  auto result = e.test(batches);
#endif
  return result.samples != 0;
}
