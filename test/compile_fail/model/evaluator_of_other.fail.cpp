// SPDX-License-Identifier: Apache-2.0
// A member of a class that evaluates one program is given a model of another one.
// expect-error: static.assert.*evaluator: expected a model of its program, found that of another one
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
#ifdef SHOULD_FAIL
  lamina::evaluator<program> e{n, {.threads = 2}};  // <- here
#else
  lamina::evaluator<program> e{m, {.threads = 2}};
#endif
  e.forward(lamina::feed<"x">(std::vector<float>(2)));
  return 0;
}
