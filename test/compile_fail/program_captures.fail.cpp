// SPDX-License-Identifier: Apache-2.0
// A record function that looks at a variable of the function around it.
// expect-error: static.assert.*program: the record function captures nothing
// expect-lines: 12
#include <lamina/layers/data.hpp>
#include <lamina/operators/elementwise/sum/layer.hpp>
#include <lamina/operators/reduce/dimensions/layer.hpp>
#include <lamina/program/program.hpp>

namespace layer = lamina::layer;
using lamina::block;

constexpr auto scaled(block& main, float factor) {
  return layer::mean(layer::scale(layer::data<"x", float, 4>(main), factor));
}

int main() {
#ifdef SHOULD_FAIL
  float factor = 2;
  constexpr auto net =
      lamina::program([&](block& main) { return scaled(main, factor); });  // <- here
#else
  constexpr auto net = lamina::program([](block& main) { return scaled(main, 2); });
#endif
  return net.parameter_count() != 0;
}
