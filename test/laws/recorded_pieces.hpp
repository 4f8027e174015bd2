// SPDX-License-Identifier: Apache-2.0
// test/laws/recorded_pieces.hpp - what programs of tests record again and again: costs whose
// gradient differs from element to element, masks, and sequences as rows.
#pragma once

#include <lamina/layers/layers.hpp>
#include <lamina/program/program.hpp>

namespace pieces {

/// The mean of the squares of all elements.
template <class V>
constexpr auto cost_of(V x) {
  return lamina::layer::mean(lamina::layer::square(x));
}
/// Their sum: gradients of order 1, whatever the number of rows.
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
/// A program whose cost is that of what Layer{}(block) records.
template <class Layer>
constexpr auto squares_of(Layer) {
  return lamina::program([](lamina::block& main) { return cost_of(Layer{}(main)); });
}

}  // namespace pieces
