// SPDX-License-Identifier: Apache-2.0
// A program with data in place of a startup program.
// expect-error: lamina: run_startup: a startup program has no data layers
#include <lamina/layers/layers.hpp>
#include <lamina/model/run_startup.hpp>

namespace layer = lamina::layer;

constexpr auto net = lamina::program(
    [](lamina::block& main) { return layer::fc<2>(layer::data<"x", float, 3>(main)); });
constexpr auto start = lamina::program([](lamina::block& main) {
  layer::store(layer::fill_constant<float, 2>(main, 1),
               layer::create_parameter<float, 2>(main, {.name = "fc_0.b_0"}));
});

int main() {
  lamina::model m{net};
#ifdef SHOULD_FAIL
  lamina::run_startup(net, m);  // <- here
#else
  lamina::run_startup(start, m);
#endif
}
