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
  auto whole = lamina::layer::sequence_pool(h, {.type = lamina::pooling_type::average});
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

/// The mean of what a mask leaves of the costs of words, by the words that are left. Guard: of a
/// denominator that may be 0.
enum class guard { none, sum, largest, means, clip };
template <guard Guard>
inline constexpr auto masked_cost = lamina::program([](lamina::block& main) {
  namespace layer = lamina::layer;
  auto word = layer::sequence<"word", std::int64_t>(main);
  auto tag = layer::sequence<"tag", std::int64_t>(word);
  auto e = layer::embedding<9, 5>(word, {.is_sparse = Guard == guard::sum});
  auto tags = layer::softmax_with_cross_entropy(layer::fc<5>(e), tag);
  auto mask = layer::cast<float>(layer::equal(tag, tag * 0 + 1));
  if constexpr (Guard == guard::means)
    return layer::mean(tags * mask) / layer::mean(mask);
  else if constexpr (Guard == guard::sum)
    return 0.5f * (layer::reduce_sum(tags * mask) / (layer::reduce_sum(mask) + 0.25f));
  else if constexpr (Guard == guard::clip)
    return layer::reduce_sum(tags * mask) /
           layer::clip(layer::cast<float>(layer::reduce_sum(layer::cast<std::int64_t>(mask))), 1,
                       1e9f);
  else if constexpr (Guard == guard::largest)
    return layer::reduce_sum(tags * mask) /
           layer::elementwise_max(layer::reduce_sum(mask), layer::fill_constant<float>(main, 1));
  else
    return layer::reduce_sum(tags * mask) / layer::reduce_sum(mask);
});
/// Costs whose gradients are not those of parts added up.
template <int Kind>
inline constexpr auto cost_of_all_rows = lamina::program([](lamina::block& main) {
  namespace layer = lamina::layer;
  auto x = layer::data<"x", float, 3>(main);
  auto h = layer::fc<1>(x);
  auto weight = layer::sigmoid(layer::fc<1>(x));
  if constexpr (Kind == 0) return layer::reduce_sum(h * weight) / layer::reduce_sum(weight);
  if constexpr (Kind == 1) return layer::sqrt(layer::mean(layer::square(h)));
  if constexpr (Kind == 3) return layer::reduce_sum(h * (weight / layer::reduce_sum(weight)));
  if constexpr (Kind == 2) return layer::reduce_sum(layer::square(h)) + layer::mean(weight);
});

/// A cost of words beside metrics of sentences, of which some have no words.
inline constexpr auto cost_beside_metrics = lamina::program([](lamina::block& main) {
  auto word = lamina::layer::sequence<"word", std::int64_t>(main);
  auto tag = lamina::layer::sequence<"tag", std::int64_t>(word);
  auto label = lamina::layer::data<"label", std::int64_t>(main);
  auto h = lamina::layer::fc<5>(lamina::layer::embedding<9, 5>(word));
  auto whole = lamina::layer::sequence_pool(h, {.type = lamina::pooling_type::sum});
  lamina::layer::accuracy(whole, label, {.name = "accuracy"});
  lamina::layer::mean(whole, {.name = "mean"});
  lamina::layer::reduce_sum(whole, {.name = "sum"});
  return lamina::layer::mean(lamina::layer::softmax_with_cross_entropy(h, tag));
});

}  // namespace test
