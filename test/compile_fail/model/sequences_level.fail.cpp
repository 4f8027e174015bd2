// SPDX-License-Identifier: Apache-2.0
// The sequences of an activation that has one row a sample.
// expect-error: static.assert.*sequences: the rows of this variable form no sequences of this level
// expect-fact: gets<-1>
// expect-lines: 12
#include <lamina/layers/data.hpp>
#include <lamina/layers/sequence.hpp>
#include <lamina/model/evaluator.hpp>
#include <lamina/operators/embedding/lookup_table/layer.hpp>
#include <lamina/operators/sequence/pool/layer.hpp>

namespace layer = lamina::layer;

constexpr auto net = lamina::program([](lamina::block& main) {
  auto word = layer::sequence<"word", std::int64_t>(main);
  auto sums = layer::sequence_pool(layer::embedding<5, 2>(word, {.name = "vectors"}),
                                   {.type = lamina::pooling_type::sum, .name = "sums"});
  return std::tuple{sums};
});

int main() {
  lamina::model m{net};
  lamina::evaluator e{m};
#ifdef SHOULD_FAIL
  return e.sequences<"sums">().count;  // <- here
#else
  return e.sequences<"vectors">().count;
#endif
}
