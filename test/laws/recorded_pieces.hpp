// SPDX-License-Identifier: Apache-2.0
// test/laws/recorded_pieces.hpp - parts that many test programs record: costs whose gradient
// differs from element to element, masks, and sums of sequences.
#pragma once

#include <lamina/layers/layers.hpp>
#include <lamina/program/program.hpp>

namespace pieces {

/// The mean of the squares of all elements.
template <class V>
constexpr auto cost_of(V x) {
  return lamina::layer::mean(lamina::layer::square(x));
}
/// The sum of the squares of all elements. Its gradients are of order 1 for any number of rows.
template <class V>
constexpr auto sum_of_squares(V x) {
  return lamina::layer::reduce_sum(lamina::layer::square(x));
}
/// Whether each element is above 0.
template <class V>
constexpr auto positive(V x) {
  return lamina::layer::greater_than(x, lamina::layer::scale(x, 0));
}
/// The sum of each sequence.
template <class V>
constexpr auto pooled(V x) {
  return lamina::layer::sequence_pool(x, {.type = lamina::pooling_type::sum});
}
/// A program whose cost is computed from the variable that Layer{}(block) records.
template <class Layer>
constexpr auto squares_of(Layer) {
  return lamina::program([](lamina::block& main) { return cost_of(Layer{}(main)); });
}

}  // namespace pieces
