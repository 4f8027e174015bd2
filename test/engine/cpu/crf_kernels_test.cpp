// SPDX-License-Identifier: Apache-2.0
// Conditional random fields on the engine: against the executor, each sample alone, empty ones.
#include "laws/engine_law.hpp"

#include <lamina/layers/layers.hpp>

namespace layer = lamina::layer;

namespace {

template <int Tags>
constexpr auto tagger = lamina::program([](lamina::block& main) {
  auto x = layer::sequence<"x", float, 7>(main);
  auto label = layer::sequence<"label", std::int64_t>(x);
  auto scores = layer::fc<Tags>(x);
  auto cost = layer::linear_chain_crf(scores, label, {.param = {.name = "crf"}});
  return std::tuple{layer::mean(layer::square(cost)), cost,
                    layer::crf_decoding(scores, {.param = {.name = "crf"}}),
                    layer::crf_decoding(scores, label, {.param = {.name = "crf"}})};
});
constexpr auto nested = lamina::program([](lamina::block& main) {
  auto x = layer::nested_sequence<"x", float, 5>(main);
  auto label = layer::sequence<"label", std::int64_t>(x);
  auto cost = layer::sequence_pool(layer::linear_chain_crf(x, label));
  return std::tuple{layer::mean(cost), cost};
});
}  // namespace

TEST_CASE("linear_chain_crf and crf_decoding") {
  lamina::law::check_engine(tagger<3>, {.limit = 3});
  lamina::law::check_engine(tagger<17>, {.low = -2, .high = 2, .limit = 17});
  lamina::law::check_engine(nested, {.limit = 5});
}
