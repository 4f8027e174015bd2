// SPDX-License-Identifier: Apache-2.0
// gru and gru_unit with update gates of 0 and 1 beside large and infinite states, on the engine and
// on the interpreter.
#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "laws/edge_law.hpp"

#include <lamina/layers/layers.hpp>
#include <lamina/model/evaluator.hpp>

namespace layer = lamina::layer;

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

// Weights are `Weight` in all places: where it is 0, gates and candidate are those of x alone.
template <int Weight, bool Origin>
constexpr auto unit = lamina::program([](lamina::block& main) {
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
    CHECK(next(unit<0, false>, 200, 0.5, h) == Approx(c));
    CHECK(next(unit<0, false>, -200, 0.5, h) == Approx(h));
    CHECK(next(unit<0, false>, 0, 0.5, h) == Approx(0.5 * h + 0.5 * c));
    CHECK(next(unit<0, true>, 200, 0.5, h) == Approx(h));
    CHECK(next(unit<0, true>, -200, 0.5, h) == Approx(c));
    CHECK(next(unit<0, true>, 0, 0.5, h) == Approx(0.5 * h + 0.5 * c));
    CHECK(last(of_sequences<false>, 200, 0.5, h) == Approx(c));
    CHECK(last(of_sequences<true>, 200, 0.5, h) == Approx(h));
  }
}
TEST_CASE("0 times infinity: gru_unit with an infinite state that it keeps whole") {
  // Gates and candidate are those of infinity, 1: with origin_mode nothing of the candidate is
  // left.
  CHECK(next(unit<1, true>, 0, 0, infinity) == infinity);
}
TEST_CASE("cancellation: the gradient of a gru_unit that keeps little of its state") {
  // 1 - (1 - u) would be 0 for u around 1e-9.
  for (const double gate : {-20., 20., 0.})
    for (const double h : {1., 1e-20}) {
      lamina::law::check_edges(with_cost<true>, {{gate, 0, 0.5}, {h}}, 1, 1e-4);
      lamina::law::check_edges(with_cost<false>, {{gate, 0, 0.5}, {h}}, 1, 1e-4);
    }
}
TEST_CASE("gru at edge values: the engine has the numbers of the interpreter") {
  using run_type = lamina::law::engine_run<std::remove_const_t<decltype(of_sequences<false>)>>;
  for (const double first : {1e20, -3e38, 1e-30}) {
    run_type run(lamina::law::engine_law_options{});
    run.draw(3);
    lamina::law::change_feed(
        run.feed(1), lamina::dtype::float32,
        [&]<class T>(T* to, std::size_t count) { std::fill_n(to, count, static_cast<T>(first)); });
    const std::vector<int> wanted = run_type::looked_at();
    const auto expected = run.run_executor<float>(wanted);
    run.run_engine(0, 3);
    for (std::size_t i = 0; i < wanted.size(); ++i)
      CHECK(lamina::law::edge_difference(run.on_engine(wanted[i]), expected[i], 1e-4, 1e-7) == "");
  }
}
