// SPDX-License-Identifier: Apache-2.0
// A trainer of one program is given a model of another one.
// expect-error: static.assert.*trainer: expected a model of its program, found that of another one
// expect-fact: expects_type<.*gets_type<
#include <lamina/lamina.hpp>

namespace layer = lamina::layer;

constexpr auto net = lamina::program([](lamina::block& main) {
  auto x = layer::data<"x", float, 2>(main);
  return layer::mean(layer::fc<1>(x, {.name = "output"}));
});
constexpr auto other = lamina::program(
    [](lamina::block& main) { return layer::mean(layer::data<"x", float, 3>(main)); });

using program = std::remove_const_t<decltype(net)>;

int main() {
  lamina::model m{net};
  lamina::model n{other};
  lamina::optimizer::adam adam;
#ifdef SHOULD_FAIL
  lamina::trainer<program, lamina::optimizer::adam> t{n, adam, {.threads = 2}};  // <- here
#else
  lamina::trainer<program, lamina::optimizer::adam> t{m, adam, {.threads = 2}};
#endif
  return t.cost() != 0;
}
