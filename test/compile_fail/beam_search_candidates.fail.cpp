// SPDX-License-Identifier: Apache-2.0
// More candidates than scores of candidates.
// expect-error: static.assert.*beam_search: an int64 id and a score for each
// expect-fact: gets_type<.*, 5>.*, 4>
// expect-lines: 12
#include <lamina/layers/sequence.hpp>
#include <lamina/operators/decode/beam_search/layer.hpp>
#include <lamina/program/program.hpp>

namespace layer = lamina::layer;

constexpr auto net = lamina::program([](lamina::block& main) {
  auto ids = layer::sequence<"ids", std::int64_t>(main);
  auto so_far = layer::sequence<"so_far", float>(ids);
  auto more = layer::sequence<"more", std::int64_t, 5>(ids);
  auto scores = layer::sequence<"scores", float, 4>(ids);
  (void)more;
#ifdef SHOULD_FAIL
  return layer::beam_search<"beam">(ids, so_far, more, scores, 4, 1);  // <- here
#else
  return layer::beam_search<"beam">(ids, so_far, scores, 4, 1);
#endif
});

int main() { return net.parameter_count() < 0; }
