// SPDX-License-Identifier: Apache-2.0
// A layer of real numbers on integers.
// expect-error: static.assert.*fc: inputs are floating point
// expect-lines: 12
#include <lamina/layers/data.hpp>
#include <lamina/operators/embedding/lookup_table/layer.hpp>
#include <lamina/operators/matrix/fc/layer.hpp>
#include <lamina/program/program.hpp>

namespace layer = lamina::layer;

constexpr auto net = lamina::program([](lamina::block& main) {
  auto ids = layer::data<"ids", std::int64_t>(main);
#ifdef SHOULD_FAIL
  return layer::fc<10>(ids);  // <- here
#else
  return layer::fc<10>(layer::embedding<100, 8>(ids));
#endif
});

int main() { return net.parameter_count() < 0; }
