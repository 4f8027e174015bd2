// SPDX-License-Identifier: Apache-2.0
// lstmp: values by hand, gradients, samples alone, the engine.

#include "executor/recurrent_values.hpp"
#include "executor/shared_executor.hpp"
#include "laws/engine_law.hpp"
#include <catch2/catch.hpp>
#include <laws/gradient_check.hpp>
#include <laws/sequence_law.hpp>

#include <lamina/layers/layers.hpp>

namespace layer = lamina::layer;
using lamina::block;
using lamina::recurrent_activation;

namespace {

constexpr auto by_one = lamina::program([](block& main) {
  auto x = layer::sequence<"x", float, 8>(main);
  auto h = layer::data<"h", float, 2>(main);
  auto c = layer::data<"c", float, 2>(main);
  auto [projection, cell] = layer::dynamic_lstmp<8, 2>(
      x, h, c,
      {.is_reverse = true,
       .proj_activation = recurrent_activation::identity,
       .cell_clip = 1000,
       .proj_clip = 1000,
       .param = {.name = "w"},
       .proj_param = {.initializer = lamina::init::array({1, 0, 0, 1})},
       .bias_param = {.name = "b", .initializer = lamina::init::constant(0.3f)}});
  auto [hidden, same_cell] = layer::dynamic_lstm<8>(
      x, h, c, {.is_reverse = true, .param = {.name = "w"}, .bias_param = {.name = "b"}});
  return std::tuple{projection, cell, hidden, same_cell};
});

constexpr auto narrow = lamina::program([](block& main) {
  auto x = layer::sequence<"x", float, 8>(main);
  auto [projection, cell] = layer::dynamic_lstmp<8, 3>(x);
  return std::tuple{projection, cell};
});

}  // namespace

TEST_CASE("lstmp that projects by one, beyond all clips, is lstm") {
  lamina::basic_executor<double> executor;
  lamina::scope scope;
  executor.run_startup(by_one.view(), scope, 1);
  const auto r = executor.run(by_one.view(), scope,
                              {{"x", recurrent::sequences({{2, 0, 3}}, 8, 0.3)},
                               {"h", recurrent::matrix(3, 2, 2)},
                               {"c", recurrent::matrix(3, 2, 2.5)}});
  for (const std::size_t i : {0u, 1u}) {
    const auto expected = r[i + 2].cast<double>();
    recurrent::check_values(r[i], {expected.begin(), expected.end()});
  }
}

TEST_CASE("lstmp by hand: two steps of width one, clips and a relu as projection") {
  constexpr auto line = lamina::program([](block& main) {
    auto x = layer::sequence<"x", float, 4>(main);
    auto [projection, cell] = layer::dynamic_lstmp<4, 2>(
        x, {.use_peepholes = false,
            .gate_activation = recurrent_activation::identity,
            .cell_activation = recurrent_activation::identity,
            .candidate_activation = recurrent_activation::identity,
            .proj_activation = recurrent_activation::relu,
            .cell_clip = 20,
            .proj_clip = 50,
            .param = {.initializer = lamina::init::constant(1)},
            .proj_param = {.initializer = lamina::init::array({-1, 2})}});
    return std::tuple{projection, cell};
  });
  lamina::executor executor;
  lamina::scope scope;
  executor.run_startup(line.view(), scope);
  CHECK(scope.var("lstmp_0.w_0").shape() == lamina::tensor_shape{2, 4});
  CHECK(scope.var("lstmp_0.w_1").shape() == lamina::tensor_shape{1, 2});
  CHECK(scope.var("lstmp_0.b_0").shape() == lamina::tensor_shape{1, 4});
  const auto r = executor.run(
      line.view(), scope,
      {{"x", lamina::sequences<std::array<float, 4>>({{{2, 3, 9, 1}, {1, 1, -1, -1}}})}});
  // n, i, f, o = 2, 3, 9, 1: c = 6, h = 6, projection relu(-6), relu(12).
  // Products of the projections are 12: n, i, f, o = 13, 13, 11, 11: c = 169 + 66, clipped to 20;
  // h = 220, projection 0 and 440, clipped to 50.
  recurrent::check_values(r[1], {6, 20});
  recurrent::check_values(r[0], {0, 12, 0, 50});
}

TEST_CASE("gradient: lstmp with peepholes and states, through projection and cell") {
  laws::check_gradients(lamina::program([](block& main) {
    auto x = layer::sequence<"x", float, 8>(main);
    auto h = layer::data<"h", float, 3>(main);
    auto c = layer::data<"c", float, 2>(main);
    auto [projection, cell] = layer::dynamic_lstmp<8, 3>(x, h, c);
    return layer::mean(layer::square(projection)) + layer::mean(layer::square(cell));
  }));
}

TEST_CASE("gradient: lstmp with clips, some of which hold") {
  constexpr auto clipping = lamina::program([](block& main) {
    auto x = layer::sequence<"x", float, 8>(main);
    auto [projection, cell] =
        layer::dynamic_lstmp<8, 2>(x, {.is_reverse = true,
                                       .proj_activation = recurrent_activation::identity,
                                       .cell_clip = 0.15f,
                                       .proj_clip = 0.03f});
    return std::tuple{layer::mean(layer::square(projection)) + layer::mean(cell), projection, cell};
  });
  const lamina::feed_map feed{{"x", recurrent::sequences({{2, 0, 4}}, 8, 0.3)}};
  const auto r = recurrent::run(clipping, feed, {0.7, 0.2, 1.1});
  int held[2] = {0, 0};
  for (const double p : r[1].cast<double>()) held[0] += std::abs(p) == Approx(0.03).epsilon(1e-6);
  for (const double c : r[2].cast<double>()) held[1] += std::abs(c) == Approx(0.15).epsilon(1e-6);
  CHECK((held[0] > 0 && held[0] < 12));
  CHECK((held[1] > 0 && held[1] < 12));
  laws::check_gradients(clipping, feed);
}

TEST_CASE("each sample alone runs through the lstmp as in the batch") {
  laws::check_each_sample_alone(narrow, {{"x", recurrent::sequences({{2, 0, 3, 1}}, 8, 0.2)}});
  CHECK(
      recurrent::run(narrow, {{"x", recurrent::sequences({{0, 0}}, 8, 0)}}, {0, 0, 0})[0].shape() ==
      lamina::tensor_shape{0, 3});
}

namespace {

constexpr auto projecting = lamina::program([](lamina::block& main) {
  auto x = layer::sequence<"x", float, 7>(main);
  auto h = layer::data<"h", float, 5>(main);
  auto c = layer::data<"c", float, 18>(main);
  auto gates = layer::fc<4 * 18>(x);
  auto [first, cell] = layer::dynamic_lstmp<4 * 18, 5>(gates, h, c);
  auto [second, unused] =
      layer::dynamic_lstmp<4 * 18, 20>(gates, {.use_peepholes = false,
                                               .is_reverse = true,
                                               .proj_activation = recurrent_activation::identity,
                                               .cell_clip = 0.2f,
                                               .proj_clip = 0.1f});
  return std::tuple{
      layer::mean(layer::square(first)) + layer::mean(layer::square(second)) + layer::mean(cell),
      first, cell, second};
});

}  // namespace

TEST_CASE("lstmp from states, and with clips") { lamina::law::check_engine(projecting); }
