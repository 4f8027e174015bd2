// SPDX-License-Identifier: Apache-2.0
// Rows of sequences weighed, repeated, turned and convolved on the engine: against the executor,
// each sample alone, and empty ones.
#include "laws/engine_law.hpp"

#include <lamina/layers/layers.hpp>

namespace layer = lamina::layer;

namespace {

constexpr auto attention = lamina::program([](lamina::block& main) {
  auto x = layer::sequence<"x", float, 19>(main);
  auto h = layer::fc<17>(x, {.act = lamina::activation::tanh});
  auto weight = layer::sequence_softmax(layer::fc<1>(h));
  auto sum = layer::sequence_pool(layer::elementwise_mul<0>(h, weight),
                                  {.type = lamina::pooling_type::sum});
  auto back = layer::sequence_expand_as(sum, x) * h;
  return std::tuple{layer::mean(layer::square(back)), back, weight, sum};
});

constexpr auto repeated = lamina::program([](lamina::block& main) {
  auto word = layer::nested_sequence<"word", float, 5>(main);
  auto topic = layer::data<"topic", float, 5>(main);
  auto sentence = layer::tanh(layer::sequence_expand<0>(layer::fc<5>(topic), word));
  auto y = layer::sequence_expand(sentence, word) * word;
  auto id = layer::data<"id", std::int64_t>(main);
  auto ids = layer::sequence_expand(id, sentence);
  return std::tuple{layer::mean(layer::square(y)), y, sentence, ids};
});

constexpr auto turned = lamina::program([](lamina::block& main) {
  auto x = layer::sequence<"x", float, 9>(main);
  auto id = layer::sequence<"id", std::int64_t>(x);
  auto h = layer::fc<11>(x);
  auto y = layer::sequence_reverse(layer::tanh(layer::sequence_reverse(h)) * h);
  return std::tuple{layer::mean(layer::square(y)), y, layer::sequence_reverse(id)};
});

constexpr auto ahead = lamina::program([](lamina::block& main) {
  auto x = layer::sequence<"x", float, 13>(main);
  auto y = layer::row_conv<2>(layer::fc<21>(x), {.act = lamina::activation::tanh});
  auto z = layer::row_conv<0>(y);
  return std::tuple{layer::mean(layer::square(z)), y, z};
});

constexpr auto regrouped = lamina::program([](lamina::block& main) {
  auto x = layer::sequence<"x", float, 6>(main);
  auto same = layer::lod_reset(layer::fc<7>(x), x);
  auto y = layer::sequence_pool(same, {.type = lamina::pooling_type::sum});
  return std::tuple{layer::mean(layer::square(y)), same, y};
});

}  // namespace

TEST_CASE("sequence_softmax and sequence_expand_as") { lamina::law::check_engine(attention); }
TEST_CASE("sequence_expand by both levels, of whole numbers too") {
  lamina::law::check_engine(repeated);
}
TEST_CASE("sequence_reverse") { lamina::law::check_engine(turned, {.limit = 9}); }
TEST_CASE("row_conv") { lamina::law::check_engine(ahead); }
TEST_CASE("lod_reset to known sequences") { lamina::law::check_engine(regrouped); }
