// SPDX-License-Identifier: Apache-2.0
// Branches for the whole batch that return two types.
// expect-error: static.assert.*cond: both branches return variables of the same types
// expect-fact: expects_type<.*batch, 2> ?>.*gets_type<.*batch, 3> ?>
#include <lamina/layers/layers.hpp>
#include <lamina/program/program.hpp>

namespace layer = lamina::layer;

constexpr auto net = lamina::program([](lamina::block& main) {
  auto x = layer::data<"x", float, 4>(main);
  auto positive = layer::greater_than(layer::mean(x), layer::fill_constant<float>(main, 0));
  const auto two = [&](lamina::block&) { return layer::fc<2>(x); };
#ifdef SHOULD_FAIL
  const auto three = [&](lamina::block&) { return layer::fc<3>(x); };
#else
  const auto three = [&](lamina::block&) { return layer::fc<2>(x); };
#endif
  auto y = layer::cond(positive, two, three);  // <- here
  return layer::mean(layer::fc<1>(y + layer::fc<2>(x)));
});

int main() { return net.parameter_count() < 0; }
