// SPDX-License-Identifier: Apache-2.0
// What was computed of the hypotheses before a step, with those that the step selected.
// expect-error: static.assert.*rows: a variable has the rows from before an operator changed them
// expect-fact: named<'o', 'f', '.', 't', 'm', 'p', '_', '0'
// expect-lines: 12
#include <lamina/layers/sequence.hpp>
#include <lamina/operators/decode/beam_search/layer.hpp>
#include <lamina/operators/elementwise/binary/layer_arithmetic.hpp>
#include <lamina/operators/elementwise/sum/layer.hpp>
#include <lamina/operators/embedding/gather/layer.hpp>
#include <lamina/program/program.hpp>

namespace layer = lamina::layer;

struct record {
  constexpr auto operator()(lamina::block& main) const {
    auto ids = layer::nested_sequence<"beam", std::int64_t>(main);
    auto scores = layer::sequence<"scores", float>(ids);
    auto all = layer::sequence<"all", float, 4>(ids);
    auto before = layer::scale(scores, 2, {.name = "of"});
    auto [selected, score, parent] = layer::beam_search<"beam">(ids, scores, all, 4, 1);
    (void)parent;
#ifdef SHOULD_FAIL
    return std::tuple{selected, score + before};
#else
    return std::tuple{selected, score + layer::gather(before, parent)};
#endif
  }
};
constexpr auto net = lamina::program(record{});  // <- here

int main() { return net.parameter_count() < 0; }
