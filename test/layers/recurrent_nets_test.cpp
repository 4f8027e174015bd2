// SPDX-License-Identifier: Apache-2.0
// Recurrent layers with their products, in both directions, and attention over them.

#include "executor/recurrent_values.hpp"
#include "executor/shared_executor.hpp"
#include "laws/engine_law.hpp"
#include <catch2/catch.hpp>
#include <laws/gradient_check.hpp>
#include <laws/sequence_law.hpp>

#include <lamina/layers/layers.hpp>
#include <lamina/layers/recurrent_nets.hpp>

namespace layer = lamina::layer;
using lamina::block;
using lamina::recurrent_activation;

namespace {

constexpr auto directions = lamina::program([](block& main) {
  auto x = layer::sequence<"x", float, 3>(main);
  const layer::bidirectional_attr shared{.forward_param = {.name = "in"},
                                         .backward_param = {.name = "in_back"},
                                         .forward_recurrent_param = {.name = "again"},
                                         .backward_recurrent_param = {.name = "again_back"}};
  auto ends = layer::bidirectional_lstm<2>(x, shared);
  auto all = layer::bidirectional_lstm<2, true>(x, shared);
  auto units = layer::bidirectional_gru<2, true>(x);
  static_assert(__is_same(decltype(ends), lamina::variable<float, lamina::batch, 4>));
  static_assert(__is_same(decltype(units), lamina::variable<float, lamina::tokens<"x">, 4>));
  return std::tuple{ends, all, units, layer::bidirectional_gru<2>(x)};
});

constexpr auto attention = lamina::program([](block& main) {
  auto encoded = layer::sequence<"encoded", float, 2>(main);
  auto projected = layer::sequence<"projected", float, 1>(encoded);
  auto state = layer::data<"state", float, 1>(main);
  return layer::simple_attention(encoded, projected, state,
                                 {.weight_act = lamina::activation::identity});
});

}  // namespace

TEST_CASE("both directions: their ends, or all their states") {
  const lamina::feed_map feed{{"x", recurrent::sequences({{2, 0, 3}}, 3, 0.4)}};
  lamina::basic_executor<double> executor;
  lamina::scope scope;
  executor.run_startup(directions.view(), scope, 4);
  const auto r = executor.run(directions.view(), scope, feed);
  const auto ends = r[0].cast<double>(), all = r[1].cast<double>();
  CHECK(r[1].recursive_sequence_lengths() == std::vector<lamina::lod::level>{{2, 0, 3}});
  recurrent::check_values(r[0], {all(1, 0), all(1, 1), all(0, 2), all(0, 3), 0, 0, 0, 0,  //
                                 all(4, 0), all(4, 1), all(2, 2), all(2, 3)});
  const auto units = r[2].cast<double>();
  bool differ = false;
  for (std::size_t c = 0; c < 2; ++c) differ = differ || units(0, c) != units(0, 2 + c);
  CHECK(differ);
  laws::check_each_sample_alone(directions, feed);
}

TEST_CASE("simple_lstm is a dynamic_lstm over a product") {
  constexpr auto two = lamina::program([](block& main) {
    auto x = layer::sequence<"x", float, 3>(main);
    auto net = layer::simple_lstm<2>(x, {.is_reverse = true,
                                         .activation = recurrent_activation::relu,
                                         .param = {.name = "in"},
                                         .recurrent_param = {.name = "again"}});
    auto product = layer::fc<8>(x, {.param = {.name = "in"}, .bias = false});
    auto [hidden, cell] =
        layer::dynamic_lstm<8>(product, {.is_reverse = true,
                                         .cell_activation = recurrent_activation::relu,
                                         .candidate_activation = recurrent_activation::relu,
                                         .param = {.name = "again"}});
    return std::tuple{net, hidden};
  });
  const auto r =
      recurrent::run(two, {{"x", recurrent::sequences({{2, 3}}, 3, 0.1)}}, {0.4, 0.9, 0, 0});
  const auto expected = r[1].cast<double>();
  recurrent::check_values(r[0], {expected.begin(), expected.end()});
}

TEST_CASE("gradient: attention over both directions of a gru") {
  laws::check_gradients(lamina::program([](block& main) {
    auto x = layer::sequence<"x", float, 2>(main);
    auto state = layer::data<"state", float, 2>(main);
    auto encoded = layer::bidirectional_gru<2, true>(x);
    auto projected = layer::fc<3>(encoded, {.bias = false});
    return layer::mean(layer::square(layer::simple_attention(encoded, projected, state)));
  }));
}

TEST_CASE("each sample alone is attended to as in the batch") {
  laws::check_each_sample_alone(attention,
                                {{"encoded", recurrent::sequences({{2, 0, 3}}, 2, 0.4)},
                                 {"projected", recurrent::sequences({{2, 0, 3}}, 1, 0.8)},
                                 {"state", recurrent::matrix(3, 1, 0.2)}});
}

namespace {

constexpr auto over_two_levels = lamina::program([](lamina::block& main) {
  auto words = layer::nested_sequence<"doc", float, 5>(main);
  auto sentences = layer::bidirectional_gru<6>(words);
  auto documents = layer::bidirectional_lstm<5>(sentences);
  return std::tuple{layer::mean(layer::square(layer::fc<3>(documents))), documents, sentences};
});

}  // namespace

TEST_CASE("recurrent nets over sequences of sequences") {
  lamina::law::check_engine(over_two_levels);
}
