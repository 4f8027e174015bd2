// SPDX-License-Identifier: Apache-2.0
// lamina/operators/recurrent/definition.hpp - the activation functions of gates, cells and
// candidates.
#pragma once

#include <lamina/core/config.hpp>

#include <cstdint>
#include <string_view>

namespace lamina { inline namespace LAMINA_ABI {

/// The functions that gates, cells and candidates of recurrent operators may have. Their values are
/// the numbers of Fluid's gru_unit.
enum class recurrent_activation : std::uint8_t { identity = 0, sigmoid = 1, tanh = 2, relu = 3 };

/// The names of the functions in text attributes, in the order of the enumeration.
inline constexpr std::string_view recurrent_activation_names[] = {"identity", "sigmoid", "tanh",
                                                                  "relu"};

/// The number of the function with this name; -1 if there is none.
constexpr int find_recurrent_activation(std::string_view name) {
  for (int i = 0; i < 4; ++i)
    if (recurrent_activation_names[i] == name) return i;
  return -1;
}

}}  // namespace lamina
