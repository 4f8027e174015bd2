// SPDX-License-Identifier: Apache-2.0
// sequence_pool: values by hand, gradients, samples alone, the engine.

#include "executor/run_program.hpp"
#include "laws/engine_law.hpp"
#include <catch2/catch.hpp>
#include <laws/gradient_check.hpp>
#include <laws/sequence_law.hpp>

#include <lamina/layers/layers.hpp>

namespace layer = lamina::layer;
using Catch::Contains;
using executed::values_of;
using lamina::block;
using lamina::lod;
using lamina::lod_tensor;
using lamina::pooling_type;

namespace {

template <pooling_type Type>
constexpr auto pooled = lamina::program([](block& main) {
  auto x = layer::sequence<"x", float, 2>(main);
  return layer::sequence_pool(x, {.type = Type, .pad_value = -7});
});

constexpr auto all_kinds = lamina::program([](block& main) {
  auto x = layer::sequence<"x", float, 3>(main);
  return std::tuple{layer::sequence_pool(x),
                    layer::sequence_pool(x, {.type = pooling_type::sum, .pad_value = 2}),
                    layer::sequence_pool(x, {.type = pooling_type::sqrt}),
                    layer::sequence_pool(x, {.type = pooling_type::max, .pad_value = 0.5f}),
                    layer::sequence_last_step(x),
                    layer::sequence_first_step(x, {.pad_value = -1})};
});

constexpr auto nested = lamina::program([](block& main) {
  auto words = layer::nested_sequence<"doc", float, 2>(main);
  auto sentences = layer::sequence_pool(words, {.type = pooling_type::max, .pad_value = -1});
  static_assert(__is_same(decltype(sentences)::rows_type, lamina::nested_tokens<"doc">::parent));
  auto documents = layer::sequence_pool(sentences, {.type = pooling_type::sum});
  static_assert(__is_same(decltype(documents), lamina::variable<float, lamina::batch, 2>));
  return std::tuple{sentences, documents};
});

template <class P>
std::vector<lod_tensor> returned_by(P, const lod_tensor& x, const char* name = "x") {
  lamina::executor executor;
  lamina::scope scope;
  return executor.run(P::view(), scope, {{name, x}});
}

using pair = std::array<float, 2>;

lod_tensor three_sequences() {
  return lamina::sequences<pair>({{{1, 8}, {5, 2}, {3, -4}, {-1, 6}}, {}, {{-2, -3}}});
}

lod_tensor four_documents() {
  return lamina::nested_sequences<pair>(
      {{{{1, 8}, {5, 2}}, {}, {{3, -4}}}, {}, {{{-1, 6}}}, {{}, {{-2, -3}, {0, -9}, {1, 1}}}});
}

}  // namespace

TEST_CASE("sequence_pool by hand, an empty sequence in the middle") {
  using v = std::vector<double>;
  const lod_tensor x = three_sequences();
  CHECK(values_of(returned_by(pooled<pooling_type::average>, x)[0]) == v{2, 3, -7, -7, -2, -3});
  CHECK(values_of(returned_by(pooled<pooling_type::sum>, x)[0]) == v{8, 12, -7, -7, -2, -3});
  CHECK(values_of(returned_by(pooled<pooling_type::sqrt>, x)[0]) == v{4, 6, -7, -7, -2, -3});
  CHECK(values_of(returned_by(pooled<pooling_type::max>, x)[0]) == v{5, 8, -7, -7, -2, -3});
  CHECK(values_of(returned_by(pooled<pooling_type::last>, x)[0]) == v{-1, 6, -7, -7, -2, -3});
  CHECK(values_of(returned_by(pooled<pooling_type::first>, x)[0]) == v{1, 8, -7, -7, -2, -3});
  CHECK(returned_by(pooled<pooling_type::max>, x)[0].lod().empty());
}

TEST_CASE("MaxIndex is the first row with the maximum, -1 for none") {
  lamina::executor executor;
  lamina::scope scope;
  const lod_tensor x = lamina::sequences<pair>({{{1, 4}, {1, 5}}, {}, {{2, 2}, {0, 3}, {9, 3}}});
  const auto r =
      executor.run(pooled<pooling_type::max>.view(), scope, {{"x", x}}, {"sequence_pool_0.tmp_1"});
  CHECK(r[0].type() == lamina::dtype::int32);
  CHECK(values_of(r[0]) == std::vector<double>{0, 1, -1, -1, 4, 3});
}

TEST_CASE("sequence_pool of words gives sentences, of sentences documents") {
  const auto r = returned_by(nested, four_documents(), "doc");
  CHECK(r[0].recursive_sequence_lengths() == std::vector<lod::level>{{3, 0, 1, 2}});
  CHECK(values_of(r[0]) == std::vector<double>{5, 8, -1, -1, 3, -4, -1, 6, -1, -1, 1, 1});
  CHECK(r[1].lod().empty());
  CHECK(values_of(r[1]) == std::vector<double>{7, 3, 0, 0, -1, 6, 0, 0});
}

TEST_CASE("batches without any row, and without any sequence") {
  const auto empty = returned_by(pooled<pooling_type::max>, lamina::sequences<pair>({{}, {}}))[0];
  CHECK(values_of(empty) == std::vector<double>(4, -7));
  const auto none = returned_by(pooled<pooling_type::average>, lamina::sequences<pair>({}))[0];
  CHECK(none.shape() == lamina::tensor_shape{0, 2});
}

TEST_CASE("gradient: sequence_pool of every kind, with empty sequences") {
  laws::check_gradients(lamina::program([](block& main) {
    auto x = layer::sequence<"x", float, 3>(main);
    auto w = layer::data<"w", float, 3>(main);
    auto h = layer::tanh(layer::fc<3>(x));
    auto pooled = layer::sequence_pool(h) * w +
                  layer::sequence_pool(h, {.type = pooling_type::sum}) +
                  layer::sequence_pool(h, {.type = pooling_type::sqrt, .pad_value = 2}) * w;
    auto chosen = layer::sequence_pool(h, {.type = pooling_type::max}) * w +
                  layer::sequence_last_step(h, {.pad_value = 3}) + layer::sequence_first_step(h);
    return layer::mean(layer::square(pooled) + layer::square(chosen));
  }));
}

TEST_CASE("gradient: sequence_pool over two levels") {
  laws::check_gradients(lamina::program([](block& main) {
                          auto words = layer::nested_sequence<"doc", float, 2>(main);
                          auto w = layer::data<"w", float, 2>(main);
                          auto sentence = layer::sequence_pool(words, {.type = pooling_type::sqrt});
                          auto kept = layer::sequence_pool(words, {.type = pooling_type::max});
                          auto document = layer::sequence_pool(layer::square(sentence) * kept,
                                                               {.type = pooling_type::average});
                          return layer::mean(document * w);
                        }),
                        {{"doc", four_documents()}}, {.rows = 4});
}

TEST_CASE("each sample alone is pooled to its row of the batch") {
  const std::vector<std::vector<std::array<float, 3>>> x{
      {{1, -2, 3}, {0.5f, 4, -1}}, {}, {{2, 2, 2}}, {{0, 1, -3}, {7, 0, 1}, {-1, -1, 5}}};
  laws::check_each_sample_alone(all_kinds, {{"x", lamina::sequences(x)}});
  laws::check_each_sample_alone(nested, {{"doc", four_documents()}});
}

TEST_CASE("a pooltype that does not exist is refused") {
  constexpr auto wrong = lamina::program([](block& main) {
    auto x = layer::sequence<"x", float, 2>(main);
    lamina::program_builder& b = *main.builder;
    layer::layer_helper helper(b, "wrong");
    auto y = helper.output<lamina::variable<float, lamina::batch, 2>>();
    b.add_operator(lamina::schema_of<lamina::operators::sequence_pool>(), {x.id}, {y.id, -1},
                   b.attribute_list(b.text("MEDIAN"), 0.f));
    return y;
  });
  CHECK_THROWS_WITH(returned_by(wrong, three_sequences()),
                    Contains("layer wrong_0") && Contains("found 'MEDIAN'"));
}

namespace {

template <lamina::pooling_type Type>
constexpr auto pooled_on_engine = lamina::program([](lamina::block& main) {
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

constexpr auto nested_on_engine = lamina::program([](lamina::block& main) {
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
  lamina::law::check_engine(pooled_on_engine<lamina::pooling_type::average>);
  lamina::law::check_engine(pooled_on_engine<lamina::pooling_type::sum>);
  lamina::law::check_engine(pooled_on_engine<lamina::pooling_type::sqrt>);
  lamina::law::check_engine(pooled_on_engine<lamina::pooling_type::max>);
  lamina::law::check_engine(pooled_on_engine<lamina::pooling_type::last>);
  lamina::law::check_engine(pooled_on_engine<lamina::pooling_type::first>);
}

TEST_CASE("sequences beside dense samples") { lamina::law::check_engine(words, {.limit = 9}); }

TEST_CASE("nested_on_engine sequences") { lamina::law::check_engine(nested_on_engine); }

TEST_CASE("a cost for every element") { lamina::law::check_engine(token_cost, {.limit = 9}); }
