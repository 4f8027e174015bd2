// SPDX-License-Identifier: Apache-2.0
// A mask without its column.
// expect-error: static.assert.*if_else: the condition is one bool per row
// expect-fact: gets_type<.*variable<bool, .*batch>
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
  const auto side = [&](auto& branch) { return branch.input(x); };
#ifdef SHOULD_FAIL
  auto flat = layer::greater_than(layer::reduce_sum<1>(x), layer::reduce_max<1>(x));
  auto chosen = layer::if_else(flat, side, side);  // <- here
#else
  auto chosen = layer::if_else(mask, side, side);
#endif
  mean = layer::mean(chosen);
  return std::tuple{mean, layer::fc<1>(words), layer::cast<float>(mask), positive};
});

int main() { return net.parameter_count() < 0; }
