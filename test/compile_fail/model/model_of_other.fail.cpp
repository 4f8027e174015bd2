// SPDX-License-Identifier: Apache-2.0
// A model of one program that is given another one.
// expect-error: static.assert.*model: expected the program of its type, found another one
// expect-fact: expects_type<.*gets_type<
#include <lamina/lamina.hpp>

namespace layer = lamina::layer;

constexpr auto net = lamina::program([](lamina::block& main) {
  auto x = layer::data<"x", float, 2>(main);
  return layer::mean(layer::fc<1>(x, {.name = "output"}));
});
constexpr auto other = lamina::program(
    [](lamina::block& main) { return layer::mean(layer::data<"x", float, 3>(main)); });

int main() {
#ifdef SHOULD_FAIL
  lamina::model_of<net> m{other};  // <- here
#else
  lamina::model_of<net> m{net};
#endif
  return m.parameter_arrays() + other.parameter_count() == 0;
}
