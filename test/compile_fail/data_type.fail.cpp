// SPDX-License-Identifier: Apache-2.0
// Data of a type that no variable can have.
// expect-error: static.assert.*data: elements are float, double, bool or std::int64_t and its kind
// expect-fact: gets_type<long long( int)?>
// expect-lines: 12
#include <lamina/layers/layers.hpp>
#include <lamina/program/program.hpp>

namespace layer = lamina::layer;

constexpr auto net = lamina::program([](lamina::block& main) {
#ifdef SHOULD_FAIL
  auto words = layer::sequence<"words", long long>(main);  // <- here
#else
  auto words = layer::sequence<"words", std::int64_t>(main);
#endif
  return layer::mean(layer::cast<float>(words));
});

int main() { return net.parameter_count() < 0; }
