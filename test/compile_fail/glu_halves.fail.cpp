// SPDX-License-Identifier: Apache-2.0
// A width that has no halves.
// expect-error: static.assert.*glu: floating point, and the inner dimension
// expect-lines: 12
#include <lamina/layers/data.hpp>
#include <lamina/layers/glu.hpp>
#include <lamina/program/program.hpp>

namespace layer = lamina::layer;

constexpr auto net = lamina::program([](lamina::block& main) {
  auto x = layer::data<"x", float, 7, 8>(main);
#ifdef SHOULD_FAIL
  return layer::glu<1>(x);  // <- here
#else
  return layer::glu(x);
#endif
});

int main() { return net.parameter_count() < 0; }
