// SPDX-License-Identifier: Apache-2.0
// lamina/operators/recurrent/layer.hpp - functions that the recurrent layers share.
#pragma once

#include <lamina/core/config.hpp>

#include <lamina/layers/sequence_rows.hpp>
#include <lamina/operators/recurrent/definition.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace layer::detail {

/// Converts an activation function to a text attribute.
constexpr attribute_value text_of(program_builder& b, recurrent_activation act) {
  return b.text(recurrent_activation_names[static_cast<int>(act)]);
}

/// The width of each of `Gates` equal slices of Size. If Size is too small, the width is 1, so that
/// the compiler reports the wrong Size only, not an invalid width as well.
template <int Size, int Gates>
inline constexpr int gate_width = Size >= Gates ? Size / Gates : 1;

/// Whether a variable has floating point rows of `Width` numbers.
template <class V, int Width>
inline constexpr bool is_real_row = false;
template <class T, class R, int... D, int Width>
inline constexpr bool is_real_row<variable<T, R, D...>, Width> = is_real<T> && sizeof...(D) == 1 &&
                                                                 ((D == Width) && ...);

}}}  // namespace lamina::layer::detail
