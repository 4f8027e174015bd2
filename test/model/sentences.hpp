// SPDX-License-Identifier: Apache-2.0
// test/model/sentences.hpp - small models of sequences, and samples for them.
#pragma once

#include <vector>

#include "model/draws.hpp"
#include "model/samples.hpp"

#include <lamina/lamina.hpp>

namespace sentences_of {

namespace layer = lamina::layer;

inline constexpr auto tagging = lamina::program([](lamina::block& main) {
  auto word = layer::sequence<"word", std::int64_t>(main);
  auto next = layer::sequence<"next", std::int64_t>(word);
  auto e = layer::embedding<12, 8>(word);
  auto logits = layer::fc<12>(e, {.name = "logits"});
  return layer::mean(layer::softmax_with_cross_entropy(logits, next));
});

inline constexpr auto polarity = lamina::program([](lamina::block& main) {
  auto word = layer::sequence<"word", std::int64_t>(main);
  auto label = layer::data<"label", std::int64_t>(main);
  auto h = layer::fc<16>(layer::embedding<12, 8>(word), {.act = lamina::activation::tanh});
  auto logits = layer::fc<2>(layer::sequence_pool(h, {.type = lamina::pooling_type::max}),
                             {.name = "logits"});
  layer::accuracy(logits, label, {.name = "accuracy"});
  return layer::mean(layer::softmax_with_cross_entropy(logits, label));
});

inline constexpr auto points = lamina::program([](lamina::block& main) {
  auto x = layer::nested_sequence<"x", float, 2>(main);
  auto sums = layer::sequence_pool(x, {.type = lamina::pooling_type::sum});
  return layer::mean(layer::sequence_pool(sums, {.type = lamina::pooling_type::max, .name = "y"}));
});

struct tagged {
  std::vector<std::int64_t> word, next;
};

struct sentence {
  std::vector<std::int64_t> word;
  std::int64_t label;
};

inline std::vector<sentence> sentences(int n) {
  std::vector<sentence> all;
  test::draws draw(7);
  for (int i = 0; i < n; ++i) {
    sentence s{{}, 0};
    const auto length = draw(9);  // 0 too
    for (std::int64_t k = 0; k < length; ++k) {
      s.word.push_back(draw(12));
      if (s.word.back() < 2) s.label = 1;
    }
    all.push_back(s);
  }
  return all;
}

}  // namespace sentences_of
