// SPDX-License-Identifier: Apache-2.0
// A handle that gets a variable of another type.
// expect-error: static.assert.*variable: a handle keeps its element type, rows and dimensions
// expect-fact: expects_type<.*variable<float, .*batch, 16>
// expect-fact: gets_type<.*variable<float, .*batch, 32>
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
#ifdef SHOULD_FAIL
  auto h = layer::fc<16>(x);
  h = layer::fc<32>(h);  // <- here
#else
  auto h = layer::fc<16>(x);
  h = layer::fc<16>(h);
#endif
  mean = layer::mean(h);
  return std::tuple{mean, layer::fc<1>(words), layer::cast<float>(mask), positive};
});

int main() { return net.parameter_count() < 0; }
