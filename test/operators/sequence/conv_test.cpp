// SPDX-License-Identifier: Apache-2.0
// sequence_conv and row_conv: values by hand, gradients, samples alone, the engine.

#include "executor/shared_executor.hpp"
#include "laws/engine_law.hpp"
#include <catch2/catch.hpp>
#include <laws/gradient_check.hpp>
#include <laws/sequence_law.hpp>

#include <lamina/layers/layers.hpp>

namespace layer = lamina::layer;
using Catch::Contains;
using lamina::activation;
using lamina::block;
using lamina::lod_tensor;
using lamina::tensor;
using lamina::tokens;

namespace {

template <int Start, bool Padded = false>
constexpr auto conv = lamina::program([](block& main) {
  auto x = layer::sequence<"x", float>(main);
  return layer::sequence_conv<1, 3>(
      x, {.padding_start = Start, .padding_trainable = Padded, .bias = false, .name = "conv"});
});

constexpr auto defaults = lamina::program([](block& main) {
  auto x = layer::sequence<"x", float, 2>(main);
  auto y = layer::sequence_conv<4, 5>(x, {.act = activation::relu, .name = "conv"});
  static_assert(__is_same(decltype(y), lamina::variable<float, tokens<"x">, 4>));
  return y;
});

constexpr auto two_filters = lamina::program([](block& main) {
  auto x = layer::sequence<"x", float, 2>(main);
  return layer::sequence_conv<2, 2>(x, {.padding_start = 0, .name = "conv"});
});

constexpr auto ahead = lamina::program([](block& main) {
  auto x = layer::sequence<"x", float, 2>(main);
  return layer::row_conv<1>(x, {.name = "row"});
});

constexpr auto classifier = lamina::program([](block& main) {
  auto x = layer::sequence<"x", float, 2>(main);
  auto found = layer::sequence_conv_pool<3, 3>(x, {.pad_value = -1, .name = "conv"});
  static_assert(__is_same(decltype(found), lamina::variable<float, lamina::batch, 3>));
  auto same =
      layer::sequence_pool(layer::sequence_conv<3, 3>(x, {.act = activation::sigmoid,
                                                          .param = {.name = "conv.w_0"},
                                                          .bias_param = {.name = "conv.b_0"}}),
                           {.type = lamina::pooling_type::max, .pad_value = -1});
  return std::tuple{found, same};
});

constexpr auto nested = lamina::program([](block& main) {
  auto x = layer::nested_sequence<"x", float, 2>(main);
  auto wide = layer::sequence_conv<3, 4>(x, {.padding_trainable = true});
  return layer::row_conv<2>(wide, {.act = activation::tanh});
});

struct parameter {
  const char* name;
  tensor value;
};

template <class P>
std::vector<double> run(P, const lod_tensor& x, const std::vector<parameter>& parameters) {
  lamina::executor executor;
  lamina::scope scope;
  executor.run_startup(P::view(), scope, 1);
  for (const parameter& p : parameters) {
    REQUIRE(scope.var(p.name).shape() == p.value.shape());
    scope.var(p.name) = p.value;
  }
  const auto a = executor.run(P::view(), scope, {{"x", x}})[0].template cast<double>();
  return {a.begin(), a.end()};
}

using values = std::vector<double>;

using floats = std::vector<float>;

using pair = std::array<float, 2>;

lod_tensor numbers() { return lamina::sequences<float>({{1, 2, 3}, {}, {4}}); }

lod_tensor some_pairs() {
  return lamina::sequences<pair>(
      {{{1, -2}, {0.5f, 4}}, {}, {{2, 2}}, {{0, 1}, {7, 0}, {-1, 5}, {3, 3}, {-2, 1}}});
}

lod_tensor some_documents() {
  return lamina::nested_sequences<pair>(
      {{{{1, 8}, {5, 2}}, {}, {{3, -4}}}, {}, {{{-1, 6}}}, {{}, {{-2, -3}, {0, -9}, {1, 1}}}});
}

}  // namespace

TEST_CASE("sequence_conv by hand: windows end at the ends of their sequence") {
  // Weights 1, 10, 100: the digits of a result are the numbers in its window, first one last.
  const std::vector<parameter> w{{"conv.w_0", tensor({3, 1}, floats{1, 10, 100})}};
  CHECK(run(conv<layer::sequence_conv_attr::centred>, numbers(), w) == values{210, 321, 32, 40});
  CHECK(run(conv<-1>, numbers(), w) == values{210, 321, 32, 40});
  CHECK(run(conv<0>, numbers(), w) == values{321, 32, 3, 4});
  CHECK(run(conv<-2>, numbers(), w) == values{100, 210, 321, 400});
  CHECK(run(conv<1>, numbers(), w) == values{32, 3, 0, 0});
  CHECK(run(conv<-4>, numbers(), w) == values{0, 0, 100, 0});
}

TEST_CASE("sequence_conv with rows of its own beyond the ends") {
  const auto w = [](const tensor& padding) {
    return std::vector<parameter>{{"conv.w_0", tensor({3, 1}, floats{1, 10, 100})},
                                  {"conv.w_1", padding}};
  };
  CHECK(run(conv<-1, true>, numbers(), w(tensor({2, 1}, floats{5, 7}))) ==
        values{215, 321, 732, 745});
  CHECK(run(conv<-2, true>, numbers(), w(tensor({2, 1}, floats{5, 7}))) ==
        values{175, 217, 321, 475});
  CHECK(run(conv<0, true>, numbers(), w(tensor({2, 1}, floats{5, 7}))) ==
        values{321, 532, 753, 754});
}

TEST_CASE("the rows of a filter follow the rows of the window") {
  const auto y = run(two_filters, lamina::sequences<pair>({{{1, 2}, {3, 4}}}),
                     {{"conv.w_0", tensor({4, 2}, floats{1, 0, 10, 0, 100, 0, 1000, 1})},
                      {"conv.b_0", tensor({2}, floats{0.5f, -1})}});
  CHECK(y == values{4321.5, 3, 43.5, -1});
}

TEST_CASE("a window is in the middle, a bias and an activation follow") {
  const std::vector<float> x{1, -2, 0.5f, 4, 2, 2, 0, 1, 7, 0, -1, 5, 3, 3, -2, 1};
  floats w, b{0.1f, -0.2f, 0.3f, 0};
  for (int i = 0; i < 40; ++i) w.push_back(0.05f * static_cast<float>(i * 7 % 11 - 5));
  const auto y =
      run(defaults, some_pairs(), {{"conv.w_0", tensor({10, 4}, w)}, {"conv.b_0", tensor({4}, b)}});
  REQUIRE(y.size() == 8 * 4);
  const int sequence_of[] = {0, 0, 2, 3, 3, 3, 3, 3};
  for (int t = 0; t < 8; ++t)
    for (int f = 0; f < 4; ++f) {
      double sum = b[static_cast<std::size_t>(f)];
      for (int other = 0; other < 8; ++other)
        for (int c = 0; c < 2; ++c)
          if (sequence_of[other] == sequence_of[t] && other - t >= -2 && other - t <= 2)
            sum +=
                static_cast<double>(x[static_cast<std::size_t>(other * 2 + c)]) *
                static_cast<double>(w[static_cast<std::size_t>(((other - t + 2) * 2 + c) * 4 + f)]);
      CHECK(y[static_cast<std::size_t>(t * 4 + f)] == Approx(sum > 0 ? sum : 0).margin(1e-5));
    }
}

TEST_CASE("row_conv by hand: each column looks ahead in its sequence") {
  const auto y = run(ahead, lamina::sequences<pair>({{{1, 2}, {3, 4}, {5, 6}}, {}, {{7, 8}}}),
                     {{"row.w_0", tensor({2, 2}, floats{1, 1, 10, 100})}});
  CHECK(y == values{31, 402, 53, 604, 5, 6, 7, 8});
}

TEST_CASE("convolutions without any row") {
  CHECK(run(defaults, lamina::sequences<pair>({{}, {}}), {}).empty());
  CHECK(run(ahead, lamina::sequences<pair>({}), {}).empty());
}

TEST_CASE("gradient: sequence_conv") {
  laws::check_gradients(lamina::program([](block& main) {
    auto x = layer::sequence<"x", float, 2>(main);
    auto y = layer::sequence_conv<3, 3>(x, {.act = activation::tanh});
    auto z = layer::sequence_conv<3, 2>(y, {.padding_start = 1}) +
             layer::sequence_conv<3, 4>(y, {.padding_start = -5, .bias = false});
    return layer::mean(layer::square(z));
  }));
}

TEST_CASE("gradient: sequence_conv with rows of its own beyond the ends") {
  laws::check_gradients(lamina::program([](block& main) {
    auto x = layer::sequence<"x", float, 2>(main);
    auto y = layer::sequence_conv<2, 4>(x, {.padding_trainable = true});
    auto z = layer::sequence_conv<2, 3>(y, {.padding_start = 1, .padding_trainable = true});
    return layer::mean(layer::square(z));
  }));
}

TEST_CASE("gradient: row_conv and sequence_conv_pool") {
  laws::check_gradients(lamina::program([](block& main) {
    auto x = layer::sequence<"x", float, 2>(main);
    auto y = layer::row_conv<2>(x, {.act = activation::tanh});
    return layer::mean(layer::square(layer::sequence_conv_pool<3, 3>(y)));
  }));
}

TEST_CASE("gradient: convolutions over two levels") {
  laws::check_gradients(lamina::program([](block& main) {
                          auto x = layer::nested_sequence<"x", float, 2>(main);
                          auto y = layer::row_conv<1>(layer::sequence_conv<2, 3>(x));
                          return layer::mean(layer::square(y));
                        }),
                        {{"x", some_documents()}});
}

TEST_CASE("each sample alone is convolved to its rows of the batch") {
  laws::check_each_sample_alone(defaults, {{"x", some_pairs()}});
  laws::check_each_sample_alone(ahead, {{"x", some_pairs()}});
  laws::check_each_sample_alone(classifier, {{"x", some_pairs()}});
  laws::check_each_sample_alone(nested, {{"x", some_documents()}});
}

namespace {

template <int Length, int Stride, int Rows, int Padding>
constexpr auto raw = lamina::program([](block& main) {
  auto x = layer::sequence<"x", float, 2>(main);
  lamina::program_builder& b = *main.builder;
  layer::layer_helper helper(b, "raw");
  const auto fill = lamina::init::constant(1);
  const int w = helper.parameter({}, ".w_", {Rows, 3}, lamina::dtype::float32, fill, 0);
  const int p = helper.parameter({}, ".w_", {Padding, 2}, lamina::dtype::float32, fill, 0);
  auto y = helper.output<lamina::variable<float, tokens<"x">, 3>>();
  b.add_operator(lamina::schema_of<lamina::operators::sequence_conv>(), {x.id, p, w}, {y.id},
                 b.attribute_list(Length, -1, Stride, true));
  return y;
});

template <int Width>
constexpr auto raw_row = lamina::program([](block& main) {
  auto x = layer::sequence<"x", float, 2>(main);
  lamina::program_builder& b = *main.builder;
  layer::layer_helper helper(b, "raw");
  const int w =
      helper.parameter({}, ".w_", {2, Width}, lamina::dtype::float32, lamina::init::constant(1), 0);
  const int y = helper.output_like(x.id);
  b.add_operator(lamina::schema_of<lamina::operators::row_conv>(), {x.id, w}, {y});
  return decltype(x){&b, y};
});

}  // namespace

TEST_CASE("filters and windows that do not fit are refused") {
  const lod_tensor x = some_pairs();
  CHECK(run(raw<3, 1, 6, 2>, x, {}).size() == 24);
  CHECK_THROWS_WITH(run(raw<3, 2, 6, 2>, x, {}),
                    Contains("layer raw_0") && Contains("contextStride of 1, found 3 and 2"));
  CHECK_THROWS_WITH(run(raw<0, 1, 6, 2>, x, {}), Contains("positive contextLength"));
  CHECK_THROWS_WITH(run(raw<3, 1, 4, 2>, x, {}), Contains("found [4, 3]"));
  CHECK_THROWS_WITH(run(raw<3, 1, 6, 3>, x, {}), Contains("PaddingData [2, 2], found [3, 2]"));
  CHECK(run(raw_row<2>, x, {}).size() == 16);
  CHECK_THROWS_WITH(run(raw_row<3>, x, {}),
                    Contains("layer raw_0") && Contains("rows of 2 as in 'X', found [2, 3]"));
}

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

namespace {

constexpr auto ahead_on_engine = lamina::program([](lamina::block& main) {
  auto x = layer::sequence<"x", float, 13>(main);
  auto y = layer::row_conv<2>(layer::fc<21>(x), {.act = lamina::activation::tanh});
  auto z = layer::row_conv<0>(y);
  return std::tuple{layer::mean(layer::square(z)), y, z};
});

}  // namespace

TEST_CASE("row_conv") { lamina::law::check_engine(ahead_on_engine); }
