// SPDX-License-Identifier: Apache-2.0
// A branch for some of the rows that takes nothing.
// expect-error: static.assert.*if_else: a branch takes its inputs
// expect-lines: 12
#include <lamina/layers/layers.hpp>
#include <lamina/program/program.hpp>

namespace layer = lamina::layer;

constexpr auto net = lamina::program([](lamina::block& main) {
  auto x = layer::data<"x", float, 4>(main);
  auto zero = layer::fill_constant<float>(main, 0.f), mean = layer::mean(x);
  auto words = layer::sequence<"words", float, 4>(main);
  auto mask = layer::greater_than(layer::fc<1>(x), layer::fc<1>(x));
  auto positive = layer::greater_than(mean, zero);
  const auto other = [&](auto& no) { return no.input(x); };
  const auto nothing = [&] { return x; };
#ifdef SHOULD_FAIL
  auto chosen = layer::if_else(mask, nothing, other);  // <- here
#else
  auto chosen = layer::if_else(mask, other, other);
  static_cast<void>(nothing);
#endif
  mean = layer::mean(chosen);
  return std::tuple{mean, layer::fc<1>(words), layer::cast<float>(mask), positive};
});

int main() { return net.parameter_count() < 0; }
