// SPDX-License-Identifier: Apache-2.0
// An array of scores of other hypotheses.
// expect-error: static.assert.*beam_search_decode: arrays of the ids and scores that beam_search
// expect-fact: gets_type<.*variable<
// expect-lines: 12
#include <lamina/layers/sequence.hpp>
#include <lamina/operators/decode/beam_search/layer_decode.hpp>
#include <lamina/operators/fill/layer.hpp>
#include <lamina/program/program.hpp>

namespace layer = lamina::layer;

constexpr auto net = lamina::program([](lamina::block& main) {
  auto ids = layer::nested_sequence<"ids", std::int64_t>(main);
  auto other = layer::nested_sequence<"other", float>(main);
  auto same = layer::sequence<"same", float>(ids);
  auto i = layer::fill_constant<std::int64_t>(main, 0);
  auto steps = layer::array_write(ids, i);
  auto other_steps = layer::array_write(other, i);
  auto same_steps = layer::array_write(same, i);
  (void)other_steps, (void)same_steps;
#ifdef SHOULD_FAIL
  return layer::beam_search_decode<"found">(steps, other_steps, 2, 1);  // <- here
#else
  return layer::beam_search_decode<"found">(steps, same_steps, 2, 1);
#endif
});

int main() { return net.parameter_count() < 0; }
