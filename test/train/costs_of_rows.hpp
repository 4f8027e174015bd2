// SPDX-License-Identifier: Apache-2.0
// test/train/costs_of_rows.hpp - programs whose cost is no mean over one kind of rows.
#pragma once

#include <cstdint>
#include <tuple>

#include <lamina/layers/layers.hpp>
#include <lamina/program/program.hpp>

namespace test {

/// A cost of every sentence, and one of every word: as means, or as reductions of everything.
template <bool Reduces>
constexpr auto record_two_kinds(lamina::block& main) {
  auto word = lamina::layer::sequence<"word", std::int64_t>(main);
  auto tag = lamina::layer::sequence<"tag", std::int64_t>(word);
  auto label = lamina::layer::data<"label", std::int64_t>(main);
  auto e = lamina::layer::embedding<9, 5>(word);
  auto h = lamina::layer::fc<6>(e, {.act = lamina::activation::tanh});
  auto tags = lamina::layer::softmax_with_cross_entropy(lamina::layer::fc<5>(h), tag);
  auto whole = lamina::layer::sequence_pool(h, {.type = lamina::pool::average});
  auto judged = lamina::layer::softmax_with_cross_entropy(lamina::layer::fc<5>(whole), label);
  if constexpr (Reduces)
    return lamina::layer::reduce_mean(judged) + 0.5f * lamina::layer::reduce_mean(tags);
  else
    return lamina::layer::mean(judged) + 0.5f * lamina::layer::mean(tags);
}
inline constexpr auto cost_of_two_kinds =
    lamina::program([](lamina::block& main) { return record_two_kinds<false>(main); });
inline constexpr auto cost_of_two_reductions =
    lamina::program([](lamina::block& main) { return record_two_kinds<true>(main); });

/// The costs of all words, added up.
inline constexpr auto cost_that_is_a_sum = lamina::program([](lamina::block& main) {
  auto word = lamina::layer::sequence<"word", std::int64_t>(main);
  auto tag = lamina::layer::sequence<"tag", std::int64_t>(word);
  auto e = lamina::layer::embedding<9, 5>(word, {.is_sparse = true});
  auto tags = lamina::layer::softmax_with_cross_entropy(lamina::layer::fc<5>(e), tag);
  return 0.03f * lamina::layer::reduce_sum(tags);
});

/// The costs of all words by their number: a quotient of sums, and the mean of the words.
inline constexpr auto cost_that_is_a_quotient = lamina::program([](lamina::block& main) {
  auto word = lamina::layer::sequence<"word", std::int64_t>(main);
  auto tag = lamina::layer::sequence<"tag", std::int64_t>(word);
  auto e = lamina::layer::embedding<9, 5>(word);
  auto tags = lamina::layer::softmax_with_cross_entropy(lamina::layer::fc<5>(e), tag);
  auto each = lamina::layer::scale(tags, 0.0f, {.bias = 1.0f});
  return lamina::layer::reduce_sum(tags) / lamina::layer::reduce_sum(each);
});

/// A cost of words beside metrics of sentences, of which some have no words.
inline constexpr auto cost_beside_metrics = lamina::program([](lamina::block& main) {
  auto word = lamina::layer::sequence<"word", std::int64_t>(main);
  auto tag = lamina::layer::sequence<"tag", std::int64_t>(word);
  auto label = lamina::layer::data<"label", std::int64_t>(main);
  auto h = lamina::layer::fc<5>(lamina::layer::embedding<9, 5>(word));
  auto whole = lamina::layer::sequence_pool(h, {.type = lamina::pool::sum});
  lamina::layer::accuracy(whole, label, {.name = "accuracy"});
  lamina::layer::mean(whole, {.name = "mean"});
  lamina::layer::reduce_sum(whole, {.name = "sum"});
  return lamina::layer::mean(lamina::layer::softmax_with_cross_entropy(h, tag));
});

}  // namespace test
