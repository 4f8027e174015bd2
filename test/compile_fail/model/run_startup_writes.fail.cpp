// SPDX-License-Identifier: Apache-2.0
// A startup program that writes to the model that it reads.
// expect-error: lamina: run_startup: a startup program writes to parameters of the first model
// expect-fact: named<'o', 't', 'h', 'e', 'r'>
#include <lamina/layers/layers.hpp>
#include <lamina/model/run_startup.hpp>

namespace layer = lamina::layer;

constexpr auto net = lamina::program(
    [](lamina::block& main) { layer::create_parameter<float, 3>(main, {.name = "mine"}); });
constexpr auto second = lamina::program(
    [](lamina::block& main) { layer::create_parameter<float, 3>(main, {.name = "other"}); });
constexpr auto start = lamina::program([](lamina::block& main) {
  auto mine = layer::create_parameter<float, 3>(main, {.name = "mine"});
  auto other = layer::create_parameter<float, 3>(main, {.name = "other"});
#ifdef SHOULD_FAIL
  layer::store(mine, other);
#else
  layer::store(other, mine);
#endif
});

int main() {
  lamina::model m{net};
  const lamina::model source{second};
  lamina::run_startup(start, m, 0, source);  // <- here
}
