// SPDX-License-Identifier: Apache-2.0
// lamina/benchmarks/networks/sentiment.hpp - records the network of workload W3.
#pragma once

#include <cstdint>

#include <lamina/layers/layers.hpp>

namespace networks {

namespace layer = lamina::layer;

/// W3: an embedding of 5000 words, an LSTM of width 128, its maximum over time, two classes.
inline constexpr int words = 5000, sentiment_width = 128;
constexpr auto sentiment(lamina::block& main) {
  constexpr int width = sentiment_width;
  auto text = layer::sequence<"words", std::int64_t>(main);
  auto label = layer::data<"label", std::int64_t>(main);
  auto embedded = layer::embedding<words, width>(text);
  auto [hidden, cell] = layer::dynamic_lstm<4 * width>(
      layer::fc<4 * width>(embedded, {.bias = false}), {.use_peepholes = false});
  auto most = layer::sequence_pool(hidden, {.type = lamina::pooling_type::max});
  return layer::mean(layer::softmax_with_cross_entropy(layer::fc<2>(most), label));
}

}  // namespace networks
