// SPDX-License-Identifier: Apache-2.0
// pieces/recipe.hpp - how the network is trained and what it begins with: parts of programs too.
#pragma once

#include <lamina/lamina.hpp>

namespace pieces {

/// Records the cost and a metric.
template <class Scores, class Label>
constexpr auto cost_of(Scores scores, Label label) {
  namespace layer = lamina::layer;
  layer::accuracy(scores, label, {.name = "accuracy"});
  return layer::mean(layer::softmax_with_cross_entropy(scores, label));
}

/// Records a part of a startup program: small weights before the scores, so that the cost begins
/// near log(10).
constexpr void begin_undecided(lamina::block& startup) {
  namespace layer = lamina::layer;
  auto w = layer::create_parameter<float, 48, 10>(startup, {.name = "scores.w_0"});
  layer::store(layer::gaussian_random<48, 10>(startup, {.std = 1e-3f}), w);
}

}  // namespace pieces
