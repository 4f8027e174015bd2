// SPDX-License-Identifier: Apache-2.0
// Updates of other sequences than the ids.
// expect-error: static.assert.*sequence_scatter: one sequence of ids and updates
// expect-fact: gets_type<.*variable<float, .*batch, 8>
// expect-lines: 12
#include <lamina/layers/sequence.hpp>
#include <lamina/operators/sequence/ids/layer.hpp>
#include <lamina/program/program.hpp>

namespace layer = lamina::layer;

constexpr auto net = lamina::program([](lamina::block& main) {
  auto x = layer::data<"x", float, 8>(main);
  auto ids = layer::sequence<"ids", std::int64_t>(main);
  auto other = layer::sequence<"other", float>(main);
  auto same = layer::sequence<"same", float>(ids);
  (void)other, (void)same;
#ifdef SHOULD_FAIL
  return layer::sequence_scatter(x, ids, other);  // <- here
#else
  return layer::sequence_scatter(x, ids, same);
#endif
});

int main() { return net.parameter_count() < 0; }
