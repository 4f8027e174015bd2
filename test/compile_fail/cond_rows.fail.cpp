// SPDX-License-Identifier: Apache-2.0
// A condition for each row, where one for the batch is needed.
// expect-error: static.assert.*cond: the condition is one bool for the whole batch; layer::if_else takes one per row
// expect-fact: gets_type<.*variable<bool, .*batch, 1>
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
#ifdef SHOULD_FAIL
  mean = layer::cond(mask, same, same);  // <- here
#else
  mean = layer::cond(positive, same, same);
#endif
  return std::tuple{mean, layer::fc<1>(words), layer::cast<float>(mask), positive};
});

int main() { return net.parameter_count() < 0; }
