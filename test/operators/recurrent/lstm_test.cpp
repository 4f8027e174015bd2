// SPDX-License-Identifier: Apache-2.0
// lstm: values of ONNX, by hand, gradients, samples alone, the engine.

#include "executor/recurrent_values.hpp"
#include "executor/shared_executor.hpp"
#include "laws/engine_law.hpp"
#include <catch2/catch.hpp>
#include <laws/gradient_check.hpp>
#include <laws/sequence_law.hpp>

#include <lamina/layers/layers.hpp>

namespace layer = lamina::layer;
using Catch::Contains;
using lamina::block;
using lamina::recurrent_activation;

namespace {

template <bool Peepholes, bool Reverse>
constexpr auto plain = lamina::program([](block& main) {
  auto x = layer::sequence<"x", float, 8>(main);
  auto [hidden, cell] =
      layer::dynamic_lstm<8>(x, {.use_peepholes = Peepholes, .is_reverse = Reverse});
  return std::tuple{hidden, cell};
});

template <bool Peepholes, bool Reverse>
constexpr auto from_states = lamina::program([](block& main) {
  auto x = layer::sequence<"x", float, 8>(main);
  auto h = layer::data<"h", float, 2>(main);
  auto c = layer::data<"c", float, 2>(main);
  auto [hidden, cell] =
      layer::dynamic_lstm<8>(x, h, c, {.use_peepholes = Peepholes, .is_reverse = Reverse});
  return std::tuple{hidden, cell};
});

lamina::feed_map three_sequences() { return {{"x", recurrent::sequences({{2, 0, 3}}, 8, 0.3)}}; }

lamina::feed_map with_states() {
  lamina::feed_map feed = three_sequences();
  feed["h"] = recurrent::matrix(3, 2, 2.0);
  feed["c"] = recurrent::matrix(3, 2, 2.5);
  return feed;
}

}  // namespace

TEST_CASE("lstm with peepholes gives the numbers of ONNX, forwards and backwards") {
  const auto forwards = recurrent::run(plain<true, false>, three_sequences(), {0.7, 1.1});
  recurrent::check_values(
      forwards[0], {0.021863991, 0.112885944, 0.035201736, 0.201477291, 0.050189183, -0.248421023,
                    0.141251645, -0.273893899, -0.012534293, -0.019505506});
  recurrent::check_values(
      forwards[1], {0.150423869, 0.252483367, 0.249732379, 0.294728688, 0.171906132, -0.302970098,
                    0.271692883, -0.397199808, -0.025930065, -0.047414970});
  CHECK(forwards[0].recursive_sequence_lengths() == std::vector<lamina::lod::level>{{2, 0, 3}});
  const auto backwards = recurrent::run(plain<true, true>, three_sequences(), {0.7, 1.1});
  recurrent::check_values(
      backwards[0], {0.034280186, 0.163689916, 0.016963402, 0.147742876, 0.110118066, -0.237352628,
                     0.095063896, -0.247179099, -0.016951639, 0.036588255});
  recurrent::check_values(
      backwards[1], {0.250910656, 0.370952730, 0.115887924, 0.214899193, 0.353762417, -0.300130197,
                     0.193263573, -0.336646501, -0.035550611, 0.083493751});
}

TEST_CASE("lstm from given states gives the numbers of ONNX") {
  auto feed = with_states();
  const auto without = recurrent::run(from_states<false, false>, feed, {0.7, 1.1});
  recurrent::check_values(
      without[0], {0.047029676, -0.178337285, 0.089090926, 0.036007943, 0.074235166, -0.195295216,
                   0.161526533, -0.245939688, 0.029765209, -0.038346373});
  recurrent::check_values(
      without[1], {0.660741992, -0.468425209, 0.699216033, 0.050922101, 0.286717268, -0.305289287,
                   0.344863743, -0.393819865, 0.062431484, -0.094485668});
  const auto peeping = recurrent::run(from_states<true, true>, feed, {0.7, 1.1});
  recurrent::check_values(
      peeping[0], {0.109250967, 0.138490107, 0.064555006, 0.069494094, 0.073025904, -0.272589175,
                   0.010144229, -0.333169751, -0.108796236, -0.079101565});
  recurrent::check_values(
      peeping[1], {0.758707659, 0.311820808, 0.670821796, 0.112082694, 0.218180793, -0.350328378,
                   0.019605908, -0.466762060, -0.254917309, -0.241574724});
}

TEST_CASE("lstm by hand: one step of width one, every function the identity") {
  constexpr auto line = lamina::program([](block& main) {
    auto x = layer::sequence<"x", float, 4>(main);
    auto h = layer::data<"h", float, 1>(main);
    auto c = layer::data<"c", float, 1>(main);
    auto [hidden, cell] =
        layer::dynamic_lstm<4>(x, h, c,
                               {.gate_activation = recurrent_activation::identity,
                                .cell_activation = recurrent_activation::relu,
                                .candidate_activation = recurrent_activation::identity,
                                .param = {.initializer = lamina::init::constant(0.5f)},
                                .bias_param = {.initializer = lamina::init::constant(2)}});
    return std::tuple{hidden, cell};
  });
  lamina::executor executor;
  lamina::scope scope;
  executor.run_startup(line.view(), scope);
  CHECK(scope.var("lstm_0.w_0").shape() == lamina::tensor_shape{1, 4});
  CHECK(scope.var("lstm_0.b_0").shape() == lamina::tensor_shape{1, 7});
  const auto r = executor.run(
      line.view(), scope,
      {{"x", lamina::sequences<std::array<float, 4>>({{{1, -1, 3, 7}}, {{-9, 0, 1, 1}}})},
       {"h", lamina::tensor({2, 1}, std::vector<float>{4, 2})},
       {"c", lamina::tensor({2, 1}, std::vector<float>{10, -1})}});
  // n = 1+2+2 = 5, i = -1+2+2+20 = 23, f = 3+2+2+20 = 27, c = 270+115, o = 7+2+2+770.
  // n = -9+1+2 = -6, i = 0+1+2-2 = 1, f = 1+1+2-2 = 2, c = -2-6: no longer above 0.
  recurrent::check_values(r[1], {385, -8});
  recurrent::check_values(r[0], {781 * 385, 0});
}

TEST_CASE("gradient: lstm with peepholes from states, through hidden and cell") {
  laws::check_gradients(lamina::program([](block& main) {
    auto x = layer::sequence<"x", float, 8>(main);
    auto h = layer::data<"h", float, 2>(main);
    auto c = layer::data<"c", float, 2>(main);
    auto [hidden, cell] = layer::dynamic_lstm<8>(x, h, c);
    return layer::mean(layer::square(hidden) + hidden * cell);
  }));
}

TEST_CASE("gradient: lstm backwards, other functions, over fc") {
  laws::check_gradients(lamina::program([](block& main) {
    auto x = layer::sequence<"x", float, 3>(main);
    auto gates = layer::fc<12>(x, {.bias = false});
    auto [hidden, cell] =
        layer::dynamic_lstm<12>(gates, {.use_peepholes = false,
                                        .is_reverse = true,
                                        .gate_activation = recurrent_activation::tanh,
                                        .cell_activation = recurrent_activation::identity,
                                        .candidate_activation = recurrent_activation::sigmoid});
    return layer::mean(layer::sequence_pool(hidden, {.type = lamina::pooling_type::sum}));
  }));
}

TEST_CASE("gradient: lstm whose cell alone is used, over two levels of sequences") {
  laws::check_gradients(lamina::program([](block& main) {
    auto words = layer::nested_sequence<"doc", float, 4>(main);
    auto [hidden, cell] = layer::dynamic_lstm<4>(words);
    auto sentences = layer::fc<4>(layer::sequence_last_step(cell));
    auto [over, unused] =
        layer::dynamic_lstm<4>(sentences, {.candidate_activation = recurrent_activation::identity});
    return layer::mean(layer::sequence_last_step(over));
  }));
}

TEST_CASE("each sample alone runs through the lstm as in the batch") {
  laws::check_each_sample_alone(plain<true, false>,
                                {{"x", recurrent::sequences({{2, 0, 3, 1}}, 8, 0.2)}});
  laws::check_each_sample_alone(from_states<true, true>, with_states());
}

TEST_CASE("lstm over no sequence at all, and over empty ones") {
  const lamina::feed_map none{{"x", recurrent::sequences({{}}, 8, 0)}};
  CHECK(recurrent::run(plain<true, false>, none, {0.7, 1.1})[0].shape() ==
        lamina::tensor_shape{0, 2});
  const lamina::feed_map empty{{"x", recurrent::sequences({{0, 0}}, 8, 0)}};
  CHECK(recurrent::run(plain<true, true>, empty, {0.7, 1.1})[1].recursive_sequence_lengths() ==
        std::vector<lamina::lod::level>{{0, 0}});
}

namespace {

// An lstm recorded by hand, where no layer can see what is wrong with it.
template <bool BadState>
constexpr auto wrong = lamina::program([](block& main) {
  auto x = layer::sequence<"x", float, 8>(main);
  auto h = layer::data<"h", float, 3>(main);
  lamina::program_builder& b = *main.builder;
  layer::layer_helper helper(b, "wrong");
  const lamina::initializer zero = lamina::init::constant(0);
  const int weight = helper.parameter({}, ".w_", {2, 8}, lamina::dtype::float32, zero, 0);
  const int bias = helper.parameter({}, ".b_", {1, 8}, lamina::dtype::float32, zero, 0);
  const int hidden = helper.output<lamina::variable<float, lamina::tokens<"x">, 2>>().id;
  const lamina::attribute_value sigmoid = b.text("sigmoid"), cosine = b.text("cosine");
  b.add_operator(lamina::schema_of<lamina::operators::lstm>(),
                 {x.id, BadState ? h.id : -1, -1, weight, bias}, {hidden, -1, -1, -1},
                 b.attribute_list(false, false, sigmoid, BadState ? sigmoid : cosine, sigmoid));
});

}  // namespace

TEST_CASE("lstm refuses a function and a state that do not fit") {
  const lamina::feed_map feed{{"x", recurrent::sequences({{2, 1}}, 8, 0)},
                              {"h", recurrent::matrix(2, 3, 0)}};
  CHECK_THROWS_WITH(recurrent::run(wrong<true>, feed, {0, 0}),
                    Contains("layer wrong_0") && Contains("expected the shape [2, 2]") &&
                        Contains("variable 'h'") && Contains("found [2, 3]"));
  CHECK_THROWS_WITH(recurrent::run(wrong<false>, feed, {0, 0}),
                    Contains("identity as cell_activation, found 'cosine'"));
}

namespace {

constexpr auto lstm_over_fc = lamina::program([](lamina::block& main) {
  auto x = layer::sequence<"x", float, 7>(main);
  auto [hidden, cell] = layer::dynamic_lstm<4 * 9>(layer::fc<4 * 9>(x));
  return std::tuple{layer::mean(layer::square(hidden) + cell), hidden, cell};
});

constexpr auto lstm_from_states = lamina::program([](lamina::block& main) {
  auto x = layer::sequence<"x", float, 4 * 19>(main);
  auto h = layer::data<"h", float, 19>(main);
  auto c = layer::data<"c", float, 19>(main);
  auto [forwards, cell] = layer::dynamic_lstm<4 * 19>(x, h, c, {.use_peepholes = false});
  auto [backwards, unused] =
      layer::dynamic_lstm<4 * 19>(x, c, h,
                                  {.is_reverse = true,
                                   .gate_activation = recurrent_activation::tanh,
                                   .cell_activation = recurrent_activation::identity,
                                   .candidate_activation = recurrent_activation::sigmoid});
  return std::tuple{
      layer::mean(layer::sequence_last_step(forwards) * h + layer::sequence_first_step(backwards)),
      forwards, backwards};
});

}  // namespace

TEST_CASE("lstm over a product, with peepholes") { lamina::law::check_engine(lstm_over_fc); }

TEST_CASE("lstm from states, both directions, other functions") {
  lamina::law::check_engine(lstm_from_states, {.low = -0.3f, .high = 0.3f});
}
