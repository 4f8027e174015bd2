// SPDX-License-Identifier: Apache-2.0
// sequence_expand and sequence_expand_as: values by hand, gradients, samples alone, the engine.

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
using lamina::nested_tokens;
using lamina::tokens;

namespace {

constexpr auto attention = lamina::program([](block& main) {
  auto x = layer::sequence<"x", float, 2>(main);
  auto mean = layer::sequence_pool(x, {.type = lamina::pooling_type::average});
  auto centred = x - layer::sequence_expand_as(mean, x);
  auto score = layer::sequence_softmax(layer::fc<1>(centred));
  auto chosen = layer::sequence_pool(layer::elementwise_mul<0>(x, score),
                                     {.type = lamina::pooling_type::sum});
  return std::tuple{centred, score, chosen};
});

constexpr auto copies = lamina::program([](block& main) {
  auto x = layer::data<"x", std::int64_t>(main);
  auto y = layer::sequence<"y", float>(main);
  auto rows = layer::sequence_expand(x, y);
  static_assert(__is_same(decltype(rows), lamina::variable<std::int64_t, tokens<"y">, 1>));
  auto as = layer::sequence_expand_as(x, y);
  static_assert(__is_same(decltype(as), decltype(rows)));
  return std::tuple{rows, as};
});

// Fluid's first example: x [[2, 2]], y [[2, 2], [3, 3, 1, 1]], ref_level 0.
constexpr auto whole = lamina::program([](block& main) {
  auto x = layer::sequence<"x", float>(main);
  auto y = layer::nested_sequence<"y", float>(main);
  auto out = layer::sequence_expand<"copies", 0>(x, y);
  static_assert(__is_same(decltype(out)::rows_type, tokens<"copies", nested_tokens<"y">::parent>));
  return out;
});

constexpr auto levels = lamina::program([](block& main) {
  auto document = layer::data<"document", float, 2>(main);
  auto words = layer::nested_sequence<"words", float, 2>(main);
  auto sentences = layer::sequence_expand<0>(document, words);
  static_assert(__is_same(decltype(sentences)::rows_type, nested_tokens<"words">::parent));
  auto all = layer::sequence_expand<-1>(sentences, words);
  static_assert(__is_same(decltype(all)::rows_type, nested_tokens<"words">));
  return std::tuple{sentences, all, all + words};
});

constexpr auto twice = lamina::program([](block& main) {
  auto x = layer::sequence<"x", float, 2>(main);
  auto y = layer::sequence<"y", float, 2>(main);
  auto pairs = layer::sequence_expand<"pairs">(x, y);
  static_assert(__is_same(decltype(pairs)::rows_type, tokens<"pairs", tokens<"y">>));
  auto best = layer::sequence_pool(pairs, {.type = lamina::pooling_type::sum});
  return std::tuple{pairs, best * y};
});

template <class P>
std::vector<lod_tensor> returned_by(P, const lamina::feed_map& feed) {
  lamina::basic_executor<double> executor;
  lamina::scope scope;
  executor.run_startup(P::view(), scope, 1);
  return executor.run(P::view(), scope, feed);
}

using values = std::vector<double>;

using lengths = std::vector<lod::level>;

using pair = std::array<float, 2>;

lod_tensor some_pairs() {
  return lamina::sequences<pair>({{{1, -2}, {0.5f, 4}}, {}, {{2, 2}}, {{0, 1}, {7, 0}, {-1, 5}}});
}

lod_tensor other_pairs() {
  return lamina::sequences<pair>({{{3, 1}}, {{2, 2}}, {}, {{-4, 1}, {1, 3}}});
}

lod_tensor some_documents() {
  return lamina::nested_sequences<pair>({{{{1, 8}, {5, 2}}, {}}, {}, {{{-1, 6}}}});
}

}  // namespace

TEST_CASE("sequence_expand and sequence_expand_as repeat rows") {
  const auto r =
      returned_by(copies, {{"x", lamina::tensor({3, 1}, std::vector<std::int64_t>{7, 8, 9})},
                           {"y", lamina::sequences<float>({{0, 0}, {}, {0, 0, 0}})}});
  for (const lod_tensor& y : r) {
    CHECK(y.type() == lamina::dtype::int64);
    CHECK(values_of(y) == values{7, 7, 9, 9, 9});
    CHECK(y.recursive_sequence_lengths() == lengths{{2, 0, 3}});
  }
}

TEST_CASE("sequence_expand repeats whole sequences") {
  const auto out = returned_by(
      whole, {{"x", lamina::sequences<float>({{1, 2}, {3, 4}})},
              {"y", lamina::nested_sequences<float>({{{0, 0, 0}, {0, 0, 0}}, {{0}, {0}}})}})[0];
  CHECK(values_of(out) == values{1, 2, 1, 2, 3, 4, 3, 4});
  CHECK(out.recursive_sequence_lengths() == lengths{{2, 2}, {2, 2, 2, 2}});
}

TEST_CASE("sequence_expand by either level of nested sequences") {
  const auto r = returned_by(
      levels, {{"document", lamina::tensor({3, 2}, std::vector<float>{1, 2, 3, 4, 5, 6})},
               {"words", some_documents()}});
  CHECK(values_of(r[0]) == values{1, 2, 1, 2, 5, 6});
  CHECK(r[0].recursive_sequence_lengths() == lengths{{2, 0, 1}});
  CHECK(values_of(r[1]) == values{1, 2, 1, 2, 5, 6});
  CHECK(r[1].recursive_sequence_lengths() == lengths{{2, 0, 1}, {2, 0, 1}});
  CHECK(values_of(r[2]) == values{2, 10, 6, 4, 4, 12});
}

TEST_CASE("expansion to no rows at all") {
  const auto none = returned_by(twice, {{"x", lamina::sequences<pair>({{{1, 2}}, {}})},
                                        {"y", lamina::sequences<pair>({{}, {}})}});
  CHECK(none[0].shape() == lamina::tensor_shape{0, 2});
  CHECK(none[0].recursive_sequence_lengths() == lengths{{0, 0}, {}});
}

TEST_CASE("gradient: sequence_expand of rows and of sequences, sequence_expand_as") {
  laws::check_gradients(lamina::program([](block& main) {
    auto x = layer::sequence<"x", float, 2>(main);
    auto w = layer::data<"w", float, 2>(main);
    auto rows = layer::sequence_expand(layer::tanh(w), x) + layer::sequence_expand_as(w, x) * x;
    auto pairs = layer::sequence_expand<"pairs">(layer::tanh(x), layer::square(x));
    auto back = layer::sequence_pool(layer::square(pairs), {.type = lamina::pooling_type::sum});
    return layer::mean(layer::square(rows * back));
  }));
}

TEST_CASE("gradient: sequence_expand by both levels") {
  laws::check_gradients(lamina::program([](block& main) {
    auto words = layer::nested_sequence<"words", float, 2>(main);
    auto w = layer::data<"w", float, 2>(main);
    auto sentences = layer::square(layer::sequence_expand<0>(w, words));
    return layer::mean(layer::square(layer::sequence_expand(sentences, words) + words));
  }));
}

TEST_CASE("each sample alone is expanded and weighted as in the batch") {
  laws::check_each_sample_alone(attention, {{"x", some_pairs()}});
  laws::check_each_sample_alone(twice, {{"x", some_pairs()}, {"y", other_pairs()}});
  laws::check_each_sample_alone(
      levels, {{"document", lamina::tensor({3, 2}, std::vector<float>{1, 2, 3, 4, 5, 6})},
               {"words", some_documents()}});
}

TEST_CASE("sequence_expand_as counts the rows of x that types cannot compare") {
  constexpr auto other = lamina::program([](block& main) {
    auto x = layer::sequence<"x", float, 2>(main);
    auto y = layer::nested_sequence<"y", float, 2>(main);
    return layer::sequence_expand_as(x, y);
  });
  const auto out =
      returned_by(other, {{"x", lamina::sequences<pair>({{{1, 2}, {3, 4}, {5, 6}}, {}, {}})},
                          {"y", some_documents()}})[0];
  CHECK(values_of(out) == values{1, 2, 1, 2, 5, 6});
  CHECK_THROWS_WITH(
      returned_by(other, {{"x", lamina::sequences<pair>({{{1, 2}}, {{3, 4}}, {}})},
                          {"y", some_documents()}}),
      Contains("sequence_expand_as") && Contains("each of the 3 sequences of 'Y', found 2"));
}

TEST_CASE("a ref_level that Y has not is refused") {
  constexpr auto wrong = lamina::program([](block& main) {
    auto x = layer::data<"x", float, 1>(main);
    auto y = layer::sequence<"y", float>(main);
    lamina::program_builder& b = *main.builder;
    layer::layer_helper helper(b, "wrong");
    auto out = helper.output<lamina::variable<float, tokens<"y">, 1>>();
    b.add_operator(lamina::schema_of<lamina::operators::sequence_expand>(), {x.id, y.id}, {out.id},
                   b.attribute_list(1));
    return out;
  });
  CHECK_THROWS_WITH(returned_by(wrong, {{"x", lamina::tensor({1, 1}, std::vector<float>{1})},
                                        {"y", lamina::sequences<float>({{1, 2}})}}),
                    Contains("layer wrong_0") && Contains("below the 1 levels of 'Y', found 1"));
}

TEST_CASE("gradient: a bias and weights over sequences without any row are 0") {
  laws::check_gradients(lamina::program([](block& main) {
                          auto x = layer::sequence<"x", float, 2>(main);
                          auto y = layer::data<"y", float, 1>(main);
                          auto score = layer::sequence_softmax(layer::fc<1>(x));
                          auto sum =
                              layer::sequence_pool(score, {.type = lamina::pooling_type::sum});
                          return layer::mean(layer::square(sum + y));
                        }),
                        {{"x", lamina::sequences<pair>({{}, {}})}}, {.rows = 2});
}

namespace {

template <class V>
constexpr auto cost_of(V x) {
  return layer::mean(layer::square(layer::sequence_pool(x, {.type = lamina::pooling_type::sum})));
}

constexpr auto repeated = lamina::program([](block& main) {
  auto word = layer::nested_sequence<"word", float, 3>(main);
  auto topic = layer::sequence<"topic", float, 5>(main);
  auto h = layer::fc<5>(topic);
  auto copies = layer::sequence_expand<"copies", 0>(h, word);
  return std::tuple{cost_of(layer::tanh(copies)), copies, layer::fc<2>(word)};
});

// All pairs of a sequence: X, and the rows right above Out, are of one domain. So are the sentences
// that are repeated as often as each has words. Source: PaddlePaddle/Paddle PR 15877.
constexpr auto pairs = lamina::program([](block& main) {
  auto x = layer::sequence<"x", float, 3>(main);
  auto h = layer::fc<4>(x);
  auto all = layer::sequence_expand<"pairs">(h, h);
  auto word = layer::nested_sequence<"word", float, 3>(main);
  auto sentence = layer::sequence_pool(layer::fc<2>(word), {.type = lamina::pooling_type::sum});
  auto repeated = layer::sequence_expand<"repeated", 0>(sentence, word);
  auto last = layer::sequence_expand<"last", -2>(sentence, word);
  return std::tuple{cost_of(layer::tanh(all)) + cost_of(repeated) + cost_of(last), all, repeated,
                    last};
});

}  // namespace

TEST_CASE("sequence_expand of whole sequences") { lamina::law::check_engine(repeated); }

TEST_CASE("the form of sequence_expand is told by levels: X by itself, and by what lies below it") {
  lamina::law::check_engine(pairs, {.limit = 4});
}

namespace {

constexpr auto repeated_by_level = lamina::program([](lamina::block& main) {
  auto word = layer::nested_sequence<"word", float, 5>(main);
  auto topic = layer::data<"topic", float, 5>(main);
  auto sentence = layer::tanh(layer::sequence_expand<0>(layer::fc<5>(topic), word));
  auto y = layer::sequence_expand(sentence, word) * word;
  auto id = layer::data<"id", std::int64_t>(main);
  auto ids = layer::sequence_expand(id, sentence);
  return std::tuple{layer::mean(layer::square(y)), y, sentence, ids};
});

}  // namespace

TEST_CASE("sequence_expand by both levels, of whole numbers too") {
  lamina::law::check_engine(repeated_by_level);
}
