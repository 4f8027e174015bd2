// SPDX-License-Identifier: Apache-2.0
// Small programs for the tests of files.
#pragma once

#include <tuple>

#include <lamina/layers/layers.hpp>
#include <lamina/operators/control/block/layer_while.hpp>
#include <lamina/program/program.hpp>

namespace samples {

namespace layer = lamina::layer;
using lamina::block;
using integer = std::int64_t;

/// A perceptron with a cost and an accuracy.
inline constexpr auto perceptron = lamina::program([](block& main) {
  auto x = layer::data<"x", float, 4>(main);
  auto y = layer::data<"y", integer>(main);
  auto h = layer::fc<8>(x, {.act = lamina::activation::tanh});
  auto logits = layer::fc<3>(layer::dropout(h, 0.25f), {.name = "logits"});
  auto p = layer::softmax(logits, {.name = "p"});
  layer::accuracy(p, y, {.name = "accuracy"});
  return layer::mean(layer::softmax_with_cross_entropy(logits, y));
});

/// h = tanh(fc(h)), as often as n says.
inline constexpr auto loop = lamina::program([](block& main) {
  auto x = layer::data<"x", float, 3>(main);
  auto i = layer::fill_constant<integer>(main, 0), n = layer::fill_constant<integer>(main, 4);
  auto going = layer::less_than(i, n);
  auto h = x;
  layer::while_loop(going, [&](block&) {
    h = layer::tanh(layer::fc<3>(h));
    layer::increment(i);
    layer::less_than(i, n, going);
  });
  return std::tuple{layer::mean(h), h};
});

/// The mean of the embeddings of a sentence, and what follows from it.
inline constexpr auto sentence = lamina::program([](block& main) {
  auto words = layer::sequence<"words", integer>(main);
  auto e = layer::embedding<20, 5>(words);
  auto pooled = layer::sequence_pool(e, {.type = lamina::pooling_type::average});
  return std::tuple{layer::fc<2>(pooled, {.name = "score"}),
                    layer::sequence_softmax(layer::fc<1>(e))};
});

}  // namespace samples
