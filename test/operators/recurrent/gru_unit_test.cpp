// SPDX-License-Identifier: Apache-2.0
// gru_unit: a step of gru, gradients, edge values.
#include <cmath>
#include <limits>
#include <vector>

#include "executor/recurrent_values.hpp"
#include "executor/shared_executor.hpp"
#include "laws/edge_law.hpp"
#include <catch2/catch.hpp>
#include <laws/gradient_check.hpp>
#include <laws/sequence_law.hpp>

#include <lamina/layers/layers.hpp>
#include <lamina/model/evaluator.hpp>

namespace layer = lamina::layer;
using Catch::Contains;
using lamina::block;
using lamina::recurrent_activation;

namespace {

template <bool Reverse, bool Origin>
constexpr auto from_state = lamina::program([](block& main) {
  auto x = layer::sequence<"x", float, 6>(main);
  auto h = layer::data<"h", float, 2>(main);
  return layer::dynamic_gru<2>(x, h, {.is_reverse = Reverse, .origin_mode = Origin});
});

constexpr auto unit = lamina::program([](block& main) {
  auto x = layer::data<"x", float, 6>(main);
  auto h = layer::data<"h", float, 2>(main);
  auto [next, reset, gates] = layer::gru_unit<6>(x, h);
  return std::tuple{next, reset, gates};
});

lamina::feed_map three_sequences() { return {{"x", recurrent::sequences({{2, 0, 3}}, 6, 0.3)}}; }

lamina::feed_map with_state() {
  lamina::feed_map feed = three_sequences();
  feed["h"] = recurrent::matrix(3, 2, 2.0);
  return feed;
}

}  // namespace

TEST_CASE("gru_unit is a step of gru, and shows its gates") {
  lamina::feed_map feed = with_state();
  const auto whole = recurrent::run(from_state<false, false>, feed, {0.7, 1.1})[0].cast<double>();
  // The first steps of the sequences that have one: rows 0 and 2.
  const auto x = feed["x"].cast<double>(), h = feed["h"].cast<double>();
  std::vector<double> first_x, first_h;
  for (const std::size_t row : {0u, 2u})
    for (std::size_t c = 0; c < 6; ++c) first_x.push_back(x(row, c));
  for (const std::size_t s : {0u, 2u})
    for (std::size_t c = 0; c < 2; ++c) first_h.push_back(h(s, c));
  const auto r = recurrent::run(
      unit, {{"x", lamina::tensor({2, 6}, first_x)}, {"h", lamina::tensor({2, 2}, first_h)}},
      {0.7, 1.1});
  recurrent::check_values(r[0], {whole(0, 0), whole(0, 1), whole(2, 0), whole(2, 1)});
  const auto gates = r[2].cast<double>();
  recurrent::check_values(r[1], {gates(0, 2) * first_h[0], gates(0, 3) * first_h[1],
                                 gates(1, 2) * first_h[2], gates(1, 3) * first_h[3]});
  for (std::size_t row = 0; row < 2; ++row)
    for (std::size_t d = 0; d < 2; ++d)
      CHECK(r[0].cast<double>()(row, d) ==
            Approx((1 - gates(row, d)) * first_h[2 * row + d] + gates(row, d) * gates(row, 4 + d)));
}

TEST_CASE("gradient: gru_unit, twice with one weight") {
  laws::check_gradients(lamina::program([](block& main) {
    auto x = layer::data<"x", float, 6>(main);
    auto y = layer::data<"y", float, 6>(main);
    auto h = layer::data<"h", float, 2>(main);
    auto [first, r0, g0] = layer::gru_unit<6>(x, h, {.param = {.name = "w"}});
    auto [second, r1, g1] = layer::gru_unit<6>(y, first,
                                               {.origin_mode = true,
                                                .activation = recurrent_activation::identity,
                                                .gate_activation = recurrent_activation::tanh,
                                                .param = {.name = "w"},
                                                .bias = false});
    return layer::mean(layer::square(second));
  }));
}

TEST_CASE("gru_unit refuses a function without a meaning") {
  constexpr auto wrong = lamina::program([](block& main) {
    auto x = layer::data<"x", float, 6>(main);
    auto h = layer::data<"h", float, 2>(main);
    auto [next, reset, gates] =
        layer::gru_unit<6>(x, h, {.activation = static_cast<recurrent_activation>(7)});
    return next;
  });
  CHECK_THROWS_WITH(
      recurrent::run(wrong, {{"x", recurrent::matrix(1, 6, 0)}, {"h", recurrent::matrix(1, 2, 0)}},
                     {0, 0}),
      Contains("gru_unit") && Contains("found 7"));
}

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

// Weights are `Weight` in all places: where it is 0, gates and candidate are those of x alone.
template <int Weight, bool Origin>
constexpr auto unit_at_edges = lamina::program([](lamina::block& main) {
  auto x = layer::data<"x", float, 3>(main);
  auto h = layer::data<"h", float, 1>(main);
  return std::get<0>(layer::gru_unit<3>(x, h,
                                        {.origin_mode = Origin,
                                         .param = {.initializer = lamina::init::constant(Weight)},
                                         .name = "next"}));
});

template <bool Origin>
constexpr auto with_cost = lamina::program([](lamina::block& main) {
  auto x = layer::data<"x", float, 3>(main);
  auto h = layer::data<"h", float, 1>(main);
  auto next = std::get<0>(layer::gru_unit<3>(x, h, {.origin_mode = Origin}));
  return std::tuple{layer::mean(next), next};
});

template <bool Origin>
constexpr auto of_sequences = lamina::program([](lamina::block& main) {
  auto x = layer::sequence<"x", float, 3>(main);
  auto h = layer::data<"h", float, 1>(main);
  auto all = layer::dynamic_gru<1>(
      x, h,
      {.origin_mode = Origin, .param = {.initializer = lamina::init::constant(0)}, .name = "all"});
  return std::tuple{layer::mean(all), all};
});

// The state after a step from a state, on the engine; the interpreter has the same.
template <class P>
double next(P program, double gate, double candidate, double state) {
  const std::vector<float> x{static_cast<float>(gate), 0, static_cast<float>(candidate)};
  const std::vector<float> h{static_cast<float>(state)};
  lamina::model model{program, 1};
  lamina::evaluator e{model};
  e.forward(lamina::feed<"x">(x), lamina::feed<"h">(h));
  const double found = static_cast<double>(e.template activation<"next">()(0, 0));
  lamina::executor executor;
  lamina::scope scope;
  executor.run_startup(P::view(), scope);
  const auto r = executor.run(P::view(), scope,
                              {{"x", lamina::tensor({1, 3}, x)}, {"h", lamina::tensor({1, 1}, h)}});
  const double expected = r[0].template cast<double>().flat(0);
  CHECK((found == Approx(expected).epsilon(1e-6) || found == expected));
  return found;
}

// The last state of two equal elements, on the interpreter.
template <class P>
double last(P, double gate, double candidate, double state) {
  lamina::executor executor;
  lamina::scope scope;
  executor.run_startup(P::view(), scope);
  const std::vector<double> x{gate, 0, candidate, gate, 0, candidate};
  const auto r = executor.run(
      P::view(), scope,
      {{"x", lamina::lod_tensor(lamina::tensor({2, 3}, x), lamina::lod::from_lengths({{2}}))},
       {"h", lamina::tensor({1, 1}, std::vector<double>{state})}});
  return r[1].template cast<double>().flat(1);
}

}  // namespace

// PyTorch has the same equation: h = (1 - u) c + u h
TEST_CASE("cancellation: gru_unit keeps the candidate beside a large state") {
  const double c = std::tanh(0.5);  // u is 1, 0 or a half
  for (const double h : {1e20, -3e38, 1e-30, 0.}) {
    INFO("state " << h);
    CHECK(next(unit_at_edges<0, false>, 200, 0.5, h) == Approx(c));
    CHECK(next(unit_at_edges<0, false>, -200, 0.5, h) == Approx(h));
    CHECK(next(unit_at_edges<0, false>, 0, 0.5, h) == Approx(0.5 * h + 0.5 * c));
    CHECK(next(unit_at_edges<0, true>, 200, 0.5, h) == Approx(h));
    CHECK(next(unit_at_edges<0, true>, -200, 0.5, h) == Approx(c));
    CHECK(next(unit_at_edges<0, true>, 0, 0.5, h) == Approx(0.5 * h + 0.5 * c));
    CHECK(last(of_sequences<false>, 200, 0.5, h) == Approx(c));
    CHECK(last(of_sequences<true>, 200, 0.5, h) == Approx(h));
  }
}

TEST_CASE("0 times infinity: gru_unit with an infinite state that it keeps whole") {
  // Gates and candidate are those of infinity, 1: with origin_mode nothing of the candidate is
  // left.
  CHECK(next(unit_at_edges<1, true>, 0, 0, infinity) == infinity);
}

TEST_CASE("cancellation: the gradient of a gru_unit that keeps little of its state") {
  // 1 - (1 - u) would be 0 for u around 1e-9.
  for (const double gate : {-20., 20., 0.})
    for (const double h : {1., 1e-20}) {
      lamina::law::check_edges(with_cost<true>, {{gate, 0, 0.5}, {h}}, 1, 1e-4);
      lamina::law::check_edges(with_cost<false>, {{gate, 0, 0.5}, {h}}, 1, 1e-4);
    }
}
