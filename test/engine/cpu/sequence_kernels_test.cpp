// SPDX-License-Identifier: Apache-2.0
// Operators on sequences on the engine: against the executor, each sample alone, and empty ones.
#include "laws/engine_law.hpp"

#include <lamina/layers/layers.hpp>

namespace layer = lamina::layer;

namespace {

template <lamina::pooling_type Type>
constexpr auto pooled = lamina::program([](lamina::block& main) {
  auto x = layer::sequence<"x", float, 19>(main);
  auto h = layer::fc<17>(x, {.act = lamina::activation::tanh});
  auto y = layer::sequence_pool(h, {.type = Type, .pad_value = 0.25f});
  return std::tuple{layer::mean(layer::square(y)), y, h};
});

constexpr auto words = lamina::program([](lamina::block& main) {
  auto id = layer::sequence<"id", std::int64_t>(main);
  auto e = layer::embedding<9, 12>(id);
  auto first = layer::sequence_first_step(e), last = layer::sequence_last_step(e);
  auto dense = layer::data<"dense", float, 12>(main);
  auto y = layer::fc<5>({first + dense, last});
  return std::tuple{layer::mean(layer::softmax(y) * y), y};
});

constexpr auto nested = lamina::program([](lamina::block& main) {
  auto x = layer::nested_sequence<"doc", float, 6>(main);
  auto sentences = layer::sequence_pool(layer::fc<8>(x), {.type = lamina::pooling_type::sqrt});
  auto y = layer::sequence_pool(layer::fc<7>(sentences), {.type = lamina::pooling_type::sum});
  return std::tuple{layer::mean(layer::tanh(y)), y, sentences};
});

constexpr auto token_cost = lamina::program([](lamina::block& main) {
  auto id = layer::sequence<"id", std::int64_t>(main);
  auto next = layer::sequence<"next", std::int64_t>(id);
  auto e = layer::embedding<9, 12>(id);
  auto cost = layer::softmax_with_cross_entropy(layer::fc<9>(e), next);
  return std::tuple{layer::mean(cost), cost};
});

}  // namespace

TEST_CASE("sequence_pool") {
  lamina::law::check_engine(pooled<lamina::pooling_type::average>);
  lamina::law::check_engine(pooled<lamina::pooling_type::sum>);
  lamina::law::check_engine(pooled<lamina::pooling_type::sqrt>);
  lamina::law::check_engine(pooled<lamina::pooling_type::max>);
  lamina::law::check_engine(pooled<lamina::pooling_type::last>);
  lamina::law::check_engine(pooled<lamina::pooling_type::first>);
}

TEST_CASE("sequences beside dense samples") { lamina::law::check_engine(words, {.limit = 9}); }
TEST_CASE("nested sequences") { lamina::law::check_engine(nested); }
TEST_CASE("a cost for every element") { lamina::law::check_engine(token_cost, {.limit = 9}); }

template <int Filters, int Size, bool Trained>
constexpr auto convolved = lamina::program([](lamina::block& main) {
  auto x = layer::sequence<"x", float, 6>(main);
  auto y = layer::sequence_conv<Filters, Size>(
      x, {.padding_trainable = Trained, .act = lamina::activation::tanh});
  auto z = layer::sequence_conv<5, 3>(y, {.bias = false});
  auto two = layer::sequence_pool(y, {.type = lamina::pooling_type::max});
  return std::tuple{
      layer::mean(layer::sequence_pool(z, {.type = lamina::pooling_type::sum})) + layer::mean(two),
      z, two};
});

TEST_CASE("sequence_conv") {
  lamina::law::check_engine(convolved<9, 3, false>);
  lamina::law::check_engine(convolved<20, 4, true>);
  lamina::law::check_engine(convolved<4, 1, false>);
}
