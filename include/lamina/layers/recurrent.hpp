// SPDX-License-Identifier: Apache-2.0
// lamina/layers/recurrent.hpp - what recurrent layers have in common.
#pragma once

#include <cstdint>
#include <string_view>

#include <lamina/layers/sequence_rows.hpp>

namespace lamina {

/// The functions that gates, cells and candidates of recurrent operators may have. The numbers are
/// those of Fluid's gru_unit.
enum class recurrent_activation : std::uint8_t { identity = 0, sigmoid = 1, tanh = 2, relu = 3 };

namespace layer::detail {

constexpr std::string_view fluid_name_of(recurrent_activation act) {
  return act == recurrent_activation::sigmoid ? "sigmoid"
         : act == recurrent_activation::tanh  ? "tanh"
         : act == recurrent_activation::relu  ? "relu"
                                              : "identity";
}

/// An activation as an attribute of text.
constexpr attribute_value text_of(program_builder& b, recurrent_activation act) {
  return b.text(fluid_name_of(act));
}

/// The width of one of `Gates` equal parts; 1 where they do not fit, so that one mistake gives one
/// error.
template <int Size, int Gates>
inline constexpr int gate_width = Size >= Gates ? Size / Gates : 1;

/// Whether a variable is one floating point row of `Width` numbers.
template <class V, int Width>
inline constexpr bool is_real_row = false;
template <class T, class R, int... D, int Width>
inline constexpr bool is_real_row<variable<T, R, D...>, Width> = is_real<T> && sizeof...(D) == 1 &&
                                                                 ((D == Width) && ...);

}  // namespace layer::detail
}  // namespace lamina
