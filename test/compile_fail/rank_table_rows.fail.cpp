// SPDX-License-Identifier: Apache-2.0
// Sequences of another name are cut by the table of these.
// expect-error: static.assert.*lod_tensor_to_array: x has the sequences of the rank table
#include <lamina/layers/layers.hpp>
#include <lamina/program/program.hpp>

namespace layer = lamina::layer;

constexpr auto net = lamina::program([](lamina::block& main) {
  auto words = layer::sequence<"words", float, 4>(main);
  auto others = layer::sequence<"others", float, 4>(main);
  auto table = layer::lod_rank_table(words);
#ifdef SHOULD_FAIL
  auto steps = layer::lod_tensor_to_array(others, table);  // <- here
#else
  auto steps = layer::lod_tensor_to_array(words, table);
#endif
  return std::tuple{layer::mean(others), layer::array_to_lod_tensor(steps, table)};
});

int main() { return net.parameter_count() < 0; }
