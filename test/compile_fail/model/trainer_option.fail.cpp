// SPDX-License-Identifier: Apache-2.0
// An option that a trainer does not have.
// expect-error[gcc]: use of deleted function .*trainer
// expect-error[clang]: no viable constructor or deduction guide
// expect-fact[gcc]: // expected trainer t\{model, adam, \{
// expect-fact[clang]: train_options
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
  lamina::trainer t{m, lamina::optimizer::adam{}, {.thread = 2}};  // <- here
#else
  lamina::trainer t{m, lamina::optimizer::adam{}, {.threads = 2}};
#endif
  return t.cost() != 0;
}
