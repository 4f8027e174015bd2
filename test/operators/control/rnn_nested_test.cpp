// SPDX-License-Identifier: Apache-2.0
// dynamic_rnn over the outer level of nested sequences: a step reads whole inner sequences.
#include <array>
#include <tuple>
#include <vector>

#include "executor/run_program.hpp"
#include <catch2/catch.hpp>
#include <laws/block_gradient_law.hpp>
#include <laws/recorded_pieces.hpp>
#include <laws/sequence_law.hpp>

#include <lamina/layers/layers.hpp>
#include <lamina/operators/control/rnn/layer_dynamic.hpp>

namespace layer = lamina::layer;
using executed::returned_by;
using executed::values_of;
using lamina::block;
using lamina::lod_tensor;
using pieces::sum_of_squares;

using values = std::vector<double>;
using level = lamina::lod::level;

namespace {

/// The running sum of the words of each document's sentences, and what is left of it in the end.
constexpr auto totals = lamina::program([](block& main) {
  auto words = layer::nested_sequence<"words", float>(main);
  auto [sums, total] = layer::dynamic_rnn<0>(words, [&](auto& step) {
    auto sentence = step.input(words);
    auto sum = step.memory(lamina::dims<1>, {.value = 100});
    auto next = sum + layer::sequence_pool(sentence, {.type = lamina::pooling_type::sum});
    step.update(sum, next);
    return std::tuple{next, step.last(sum)};
  });
  static_assert(__is_same(decltype(total), lamina::variable<float, lamina::batch, 1>));
  static_assert(__is_same(decltype(sums)::rows_type, decltype(words)::rows_type::parent));
  return std::tuple{0.01f * sum_of_squares(sums) + 0.01f * sum_of_squares(total), sums, total};
});

/// A sentence is read by an rnn inside of the step of a document, beside an embedding of its words
/// and a value per sentence.
constexpr auto encoder = lamina::program([](block& main) {
  auto words = layer::nested_sequence<"words", float, 2>(main);
  auto ids = layer::sequence<"ids", std::int64_t>(words);
  auto [documents, state] = layer::dynamic_rnn<0>(words, [&](auto& step) {
    auto sentence = step.input(words);
    auto named = layer::embedding<2, 3>(step.input(ids));
    auto seen = layer::dynamic_rnn(sentence, [&](auto& word) {
      auto h = word.memory(lamina::dims<3>, {.value = 0.2f});
      auto next =
          layer::tanh(layer::fc<3>(std::tuple{word.input(sentence), h}) + word.input(named));
      word.update(h, next);
      return next;
    });
    auto h = step.memory(lamina::dims<3>, {.value = 0.5f});
    auto next = layer::tanh(layer::fc<3>(std::tuple{layer::sequence_pool(seen), h}));
    step.update(h, next);
    return std::tuple{next, step.last(h)};
  });
  return std::tuple{sum_of_squares(documents) + sum_of_squares(layer::scale(state, 2)), documents,
                    state};
});

}  // namespace

TEST_CASE("a step reads the inner sequence of each sequence that is long enough") {
  const auto found = returned_by<double>(
      totals,
      {{"words", lamina::nested_sequences<float>({{{1, 2}, {}, {3}}, {}, {{4, 5, 6}}, {{}}})}});
  CHECK(values_of(found[1]) == values{103, 103, 106, 115, 100});
  CHECK(found[1].recursive_sequence_lengths() == std::vector<level>{{3, 0, 1, 1}});
  CHECK(values_of(found[2]) == values{106, 100, 115, 100});
  // No inner sequence has a word; no document has a sentence; there are no documents.
  const auto empty =
      returned_by<double>(totals, {{"words", lamina::nested_sequences<float>({{{}, {}}, {{}}})}});
  CHECK(values_of(empty[1]) == values{100, 100, 100});
  const auto none =
      returned_by<double>(totals, {{"words", lamina::nested_sequences<float>({{}, {}})}});
  CHECK(none[1].shape() == lamina::tensor_shape{0, 1});
  CHECK(values_of(none[2]) == values{100, 100});
  CHECK(returned_by<double>(totals, {{"words", lamina::nested_sequences<float>({})}})[2].shape() ==
        lamina::tensor_shape{0, 1});
}

TEST_CASE("documents are encoded alone as in a batch") {
  using pair = std::array<float, 2>;
  const lod_tensor words = lamina::nested_sequences<pair>(
      {{{{1, 8}}, {}, {{3, -4}, {0, 1}}}, {}, {{{-1, 6}}}, {{}, {{-2, -3}, {0, -9}, {1, 1}}}});
  const lod_tensor ids =
      lamina::nested_sequences<std::int64_t>({{{1}, {}, {0, 1}}, {}, {{1}}, {{}, {1, 0, 0}}});
  laws::check_each_sample_alone(encoder, {{"words", words}, {"ids", ids}});
}

TEST_CASE("gradient: inner sequences of different lengths, empty ones, empty documents") {
  laws::check_block_gradients(totals, {}, {.rows = 3, .lengths = {{2, 0, 3}, {1, 3, 0, 2, 1}}},
                              true);
  laws::check_block_gradients(
      encoder, {}, {.rows = 3, .lengths = {{2, 0, 3}, {1, 3, 0, 2, 1}}, .integers = 2}, true);
  laws::check_block_gradients(encoder, {}, {.rows = 2, .lengths = {{0, 2}, {0, 2}}, .integers = 2});
}
