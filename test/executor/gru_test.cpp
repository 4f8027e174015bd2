// SPDX-License-Identifier: Apache-2.0
// gru and gru_unit on the interpreter: values that the reference evaluator of ONNX (onnx.reference,
// GRU, whose update gate is 1 - u without origin_mode) gives for the same numbers, gradients,
// samples alone.
#include "recurrent_values.hpp"
#include "shared_executor.hpp"
#include <catch2/catch.hpp>
#include <laws/gradient_check.hpp>
#include <laws/sequence_law.hpp>

#include <lamina/layers/layers.hpp>

namespace layer = lamina::layer;
using Catch::Contains;
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
      Contains("operator 'gru_unit'") && Contains("found 7"));
}
