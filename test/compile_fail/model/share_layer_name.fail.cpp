// SPDX-License-Identifier: Apache-2.0
// Sharing a layer that only one of the models has.
// expect-error: static.assert.*share_parameters_of: expected names of layers or parameters that both
// expect-fact: named<'l', 'a', 's', 't'>
#include <lamina/lamina.hpp>

namespace layer = lamina::layer;

constexpr auto first = lamina::program([](lamina::block& main) {
  return layer::fc<1>(layer::data<"x", float, 2>(main), {.name = "output"});
});
constexpr auto second = lamina::program([](lamina::block& main) {
  auto x = layer::data<"x", float, 2>(main);
  return layer::fc<1>(layer::fc<1>(x, {.name = "output"}), {.name = "last"});
});

int main() {
  const lamina::model a{first};
#ifdef SHOULD_FAIL
  lamina::model b{second, lamina::share_parameters_of<"last">(a)};  // <- here
#else
  lamina::model b{second, lamina::share_parameters_of<"output">(a)};
#endif
  return b.parameter<"output.b_0">().size() != 1;
}
