// SPDX-License-Identifier: Apache-2.0
// Branches that take nothing.
// expect-error: static.assert.*cond: a branch takes its block
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
  const auto same = [&](lamina::block&) { return mean; };
  const auto nothing = [&] { return mean; };
#ifdef SHOULD_FAIL
  mean = layer::cond(positive, same, nothing);  // <- here
#else
  mean = layer::cond(positive, same, same);
  static_cast<void>(nothing);
#endif
  return std::tuple{mean, layer::fc<1>(words), layer::cast<float>(mask), positive};
});

int main() { return net.parameter_count() < 0; }
