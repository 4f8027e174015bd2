// SPDX-License-Identifier: Apache-2.0
// lamina/v2/layers/data_type.hpp - the types of inputs, under their names in PaddlePaddle v2.
#pragma once

#include <lamina/core/config.hpp>

#include <cstdint>

namespace lamina { inline namespace LAMINA_ABI { namespace v2::data_type {

/// An array of Dim numbers per sample, or per element of a sequence. v2: dense_vector(dim).
template <int Dim>
struct dense_vector {
  using element = float;
  static constexpr int width = Dim, levels = 0;
};
/// An integer from 0 to Range - 1 per sample, or per element of a sequence. v2:
/// integer_value(value_range).
template <std::int64_t Range>
struct integer_value {
  using element = std::int64_t;
  static constexpr int width = 1, levels = 0;
  static constexpr std::int64_t range = Range;
};

namespace detail {
template <class Type, int Levels>
struct sequence_of : Type {
  static constexpr int levels = Levels;
};
}  // namespace detail

/// A sequence of arrays or integers per sample, or (sub_sequence) a sequence of sequences of them.
/// v2: dense_vector_sequence, dense_vector_sub_sequence, integer_value_sequence,
/// integer_value_sub_sequence.
template <int Dim>
using dense_vector_sequence = detail::sequence_of<dense_vector<Dim>, 1>;
template <int Dim>
using dense_vector_sub_sequence = detail::sequence_of<dense_vector<Dim>, 2>;
template <std::int64_t Range>
using integer_value_sequence = detail::sequence_of<integer_value<Range>, 1>;
template <std::int64_t Range>
using integer_value_sub_sequence = detail::sequence_of<integer_value<Range>, 2>;

}}}  // namespace lamina::v2::data_type
