// SPDX-License-Identifier: Apache-2.0
// An option that an evaluator does not have.
// expect-error[gcc]: use of deleted function .*evaluator
// expect-error[clang]: no viable constructor or deduction guide
// expect-fact[gcc]: // expected evaluator e\{model\} or e\{model, \{.threads = 2\}\}
// expect-fact[clang]: evaluator_options
// expect-lines: 12
#include <lamina/lamina.hpp>

namespace layer = lamina::layer;

constexpr auto net = lamina::program([](lamina::block& main) {
  auto x = layer::data<"x", float, 2>(main);
  return layer::mean(layer::fc<1>(x, {.name = "output"}));
});

int main() {
  lamina::model m{net};
#ifdef SHOULD_FAIL
  lamina::evaluator e{m, {.thread = 2}};  // <- here
#else
  lamina::evaluator e{m, {.threads = 2}};
#endif
  e.forward(lamina::feed<"x">(std::vector<float>(2)));
  return 0;
}
