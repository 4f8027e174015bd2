// SPDX-License-Identifier: Apache-2.0
// A value a token added to a value a sample.
// expect-error: static.assert.*elementwise: both operands have the same rows
// expect-fact: expects_type<.*variable<float, .*batch, 64>
// expect-fact: gets_type<.*variable<float, .*words, 64>
// expect-lines: 12
#include <lamina/layers/data.hpp>
#include <lamina/layers/elementwise.hpp>
#include <lamina/program/program.hpp>

namespace layer = lamina::layer;

struct words {
  static constexpr int domain = 2;
  static constexpr int lod_level = 1;
};

constexpr auto net = lamina::program([](lamina::block& main) {
  auto x = layer::data<"x", float, 64>(main);
  auto y = layer::data<"y", float, 64>(main);
#ifdef SHOULD_FAIL
  const lamina::variable<float, words, 64> each_word{y.builder, y.id};
  return layer::elementwise_add(x, each_word);  // <- here
#else
  return layer::elementwise_add(x, y);
#endif
});

int main() { return net.parameter_count() < 0; }
