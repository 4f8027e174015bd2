// SPDX-License-Identifier: Apache-2.0
// A seed in braces, as an option.
// expect-error[gcc]: use of deleted function .*model
// expect-error[clang]: no viable constructor or deduction guide
// expect-fact[clang]: Seed = unsigned long
// expect-lines: 12
#include <lamina/lamina.hpp>

namespace layer = lamina::layer;

constexpr auto net = lamina::program([](lamina::block& main) {
  auto x = layer::data<"x", float, 2>(main);
  return layer::mean(layer::fc<1>(x, {.name = "output"}));
});

int main() {
#ifdef SHOULD_FAIL
  lamina::model m{net, {.seed = 3}};  // <- here
#else
  lamina::model m{net, 3};
  const lamina::model moved{std::move(m)};
  lamina::model shared{net, lamina::share_parameters_of<"output">(moved), 3};
  static_assert(std::is_same_v<decltype(shared), decltype(m)>);
#endif
  return 0;
}
