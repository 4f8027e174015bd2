// SPDX-License-Identifier: Apache-2.0
// A startup program with a misspelt parameter.
// expect-error: lamina: run_startup: a startup program names parameters that the models have
// expect-fact: named<'f', 'c', '_', '0', '.', 'w', '_', 'O'>
#include <lamina/layers/layers.hpp>
#include <lamina/model/run_startup.hpp>

namespace layer = lamina::layer;

constexpr auto net = lamina::program(
    [](lamina::block& main) { return layer::fc<2>(layer::data<"x", float, 3>(main)); });
constexpr auto start = lamina::program([](lamina::block& main) {
#ifdef SHOULD_FAIL
  auto w = layer::create_parameter<float, 3, 2>(main, {.name = "fc_0.w_O"});
#else
  auto w = layer::create_parameter<float, 3, 2>(main, {.name = "fc_0.w_0"});
#endif
  layer::store(layer::fill_constant<float, 3, 2>(main, 1), w);
});

int main() {
  lamina::model m{net};
  lamina::run_startup(start, m);  // <- here
}
