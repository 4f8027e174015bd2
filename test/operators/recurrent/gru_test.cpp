// SPDX-License-Identifier: Apache-2.0
// gru: values of ONNX, by hand, gradients, samples alone, edge values, the engine.
#include <algorithm>
#include <vector>

#include "executor/recurrent_values.hpp"
#include "executor/shared_executor.hpp"
#include "laws/edge_law.hpp"
#include "laws/engine_law.hpp"
#include <catch2/catch.hpp>
#include <laws/gradient_check.hpp>
#include <laws/sequence_law.hpp>

#include <lamina/layers/layers.hpp>
#include <lamina/model/evaluator.hpp>

namespace layer = lamina::layer;
using lamina::block;
using lamina::recurrent_activation;

namespace {

template <bool Reverse, bool Origin>
constexpr auto plain = lamina::program([](block& main) {
  auto x = layer::sequence<"x", float, 6>(main);
  return layer::dynamic_gru<2>(x, {.is_reverse = Reverse, .origin_mode = Origin});
});

template <bool Reverse, bool Origin>
constexpr auto from_state = lamina::program([](block& main) {
  auto x = layer::sequence<"x", float, 6>(main);
  auto h = layer::data<"h", float, 2>(main);
  return layer::dynamic_gru<2>(x, h, {.is_reverse = Reverse, .origin_mode = Origin});
});

lamina::feed_map three_sequences() { return {{"x", recurrent::sequences({{2, 0, 3}}, 6, 0.3)}}; }

lamina::feed_map with_state() {
  lamina::feed_map feed = three_sequences();
  feed["h"] = recurrent::matrix(3, 2, 2.0);
  return feed;
}

}  // namespace

TEST_CASE("gru gives the numbers of ONNX") {
  const std::vector<double> phases{0.7, 1.1};
  const auto forwards = recurrent::run(plain<false, false>, three_sequences(), phases);
  recurrent::check_values(
      forwards[0], {0.719273098, 0.301963961, 0.289112788, 0.101005104, 0.808374457, -0.363355708,
                    0.838022993, 0.468770778, 0.290280907, -0.085209083});
  CHECK(forwards[0].recursive_sequence_lengths() == std::vector<lamina::lod::level>{{2, 0, 3}});
  recurrent::check_values(recurrent::run(from_state<true, false>, with_state(), phases)[0],
                          {0.904563659, 0.214738498, 0.710241781, -0.354914991, 0.910979658,
                           -0.334060493, 0.793929667, 0.321085075, 0.694183772, -0.854622257});
  recurrent::check_values(recurrent::run(from_state<false, true>, with_state(), phases)[0],
                          {0.920729811, -0.405711982, 0.724181160, -0.333939016, 0.662489965,
                           -0.866680425, 0.775047880, -0.607350692, 0.755154089, -0.705606225});
  recurrent::check_values(recurrent::run(plain<true, true>, three_sequences(), phases)[0],
                          {0.221312701, 0.077260024, -0.000414147, -0.012364375, 0.507204071,
                           -0.453364711, 0.444939402, -0.185289180, 0.100419724, -0.424314340});
}

TEST_CASE("gru by hand: one step of width one, every function the identity") {
  constexpr auto line = lamina::program([](block& main) {
    auto x = layer::sequence<"x", float, 3>(main);
    auto h = layer::data<"h", float, 1>(main);
    return layer::dynamic_gru<1>(x, h,
                                 {.gate_activation = recurrent_activation::identity,
                                  .candidate_activation = recurrent_activation::relu,
                                  .param = {.initializer = lamina::init::constant(2)},
                                  .bias = false});
  });
  // u = 1 + 2 * 3 = 7, r = -4 + 6 = 2, c = 5 + 2 * (2 * 3) = 17, h = -6 * 3 + 7 * 17.
  lamina::executor executor;
  lamina::scope scope;
  executor.run_startup(line.view(), scope);
  CHECK(scope.var("gru_0.w_0").shape() == lamina::tensor_shape{1, 3});
  recurrent::check_values(
      executor.run(line.view(), scope,
                   {{"x", lamina::sequences<std::array<float, 3>>({{{1, -4, 5}}})},
                    {"h", lamina::tensor({1, 1}, std::vector<float>{3})}})[0],
      {101});
}

TEST_CASE("gradient: gru from a state, forwards and backwards, both modes") {
  laws::check_gradients(lamina::program([](block& main) {
    auto x = layer::sequence<"x", float, 6>(main);
    auto h = layer::data<"h", float, 2>(main);
    auto forwards = layer::dynamic_gru<2>(x, h);
    auto backwards = layer::dynamic_gru<2>(x, {.is_reverse = true, .origin_mode = true});
    return layer::mean(layer::square(forwards) + forwards * backwards);
  }));
}

TEST_CASE("gradient: gru with other functions over fc, without a bias, over two levels") {
  laws::check_gradients(lamina::program([](block& main) {
    auto words = layer::nested_sequence<"doc", float, 2>(main);
    auto inner = layer::dynamic_gru<2>(layer::fc<6>(words, {.bias = false}),
                                       {.gate_activation = recurrent_activation::tanh,
                                        .candidate_activation = recurrent_activation::sigmoid,
                                        .bias = false});
    auto sentences = layer::sequence_last_step(inner);
    auto outer = layer::dynamic_gru<1>(layer::fc<3>(sentences));
    return layer::mean(layer::sequence_last_step(outer));
  }));
}

TEST_CASE("each sample alone runs through the gru as in the batch") {
  laws::check_each_sample_alone(plain<false, false>,
                                {{"x", recurrent::sequences({{2, 0, 3, 1}}, 6, 0.2)}});
  laws::check_each_sample_alone(from_state<true, true>, with_state());
}

TEST_CASE("gru over no sequence at all, and over empty ones") {
  const std::vector<double> phases{0.7, 1.1};
  CHECK(recurrent::run(plain<false, false>, {{"x", recurrent::sequences({{}}, 6, 0)}}, phases)[0]
            .shape() == lamina::tensor_shape{0, 2});
  CHECK(recurrent::run(plain<true, false>, {{"x", recurrent::sequences({{0, 0}}, 6, 0)}}, phases)[0]
            .recursive_sequence_lengths() == std::vector<lamina::lod::level>{{0, 0}});
}

namespace {

constexpr auto gru_over_fc = lamina::program([](lamina::block& main) {
  auto x = layer::sequence<"x", float, 7>(main);
  auto hidden = layer::dynamic_gru<9>(layer::fc<3 * 9>(x), {.is_reverse = true});
  return std::tuple{layer::mean(layer::square(hidden)), hidden};
});

constexpr auto gru_from_state = lamina::program([](lamina::block& main) {
  auto x = layer::sequence<"x", float, 3 * 16>(main);
  auto h = layer::data<"h", float, 16>(main);
  auto first = layer::dynamic_gru<16>(x, h, {.origin_mode = true});
  auto second = layer::dynamic_gru<16>(x, {.gate_activation = recurrent_activation::tanh,
                                           .candidate_activation = recurrent_activation::identity,
                                           .bias = false});
  return std::tuple{layer::mean(first * second), first, second};
});

}  // namespace

TEST_CASE("gru over a product, backwards") { lamina::law::check_engine(gru_over_fc); }

TEST_CASE("gru from a state, both modes") {
  lamina::law::check_engine(gru_from_state, {.low = -0.3f, .high = 0.3f});
}

namespace {

template <bool Origin>
constexpr auto of_sequences = lamina::program([](lamina::block& main) {
  auto x = layer::sequence<"x", float, 3>(main);
  auto h = layer::data<"h", float, 1>(main);
  auto all = layer::dynamic_gru<1>(
      x, h,
      {.origin_mode = Origin, .param = {.initializer = lamina::init::constant(0)}, .name = "all"});
  return std::tuple{layer::mean(all), all};
});

}  // namespace

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
