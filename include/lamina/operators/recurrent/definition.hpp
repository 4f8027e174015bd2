// SPDX-License-Identifier: Apache-2.0
// lamina/operators/recurrent/definition.hpp - the activation functions that recurrent operators
// apply to their gates, cells and candidates.
#pragma once

#include <lamina/core/config.hpp>

#include <cstdint>
#include <string_view>

namespace lamina { inline namespace LAMINA_ABI {

/// An activation function of a recurrent operator. The numbers are those of the attributes of
/// gru_unit.
enum class recurrent_activation : std::uint8_t { identity = 0, sigmoid = 1, tanh = 2, relu = 3 };

/// The names that text attributes have for the functions, in the order of the enumeration.
inline constexpr std::string_view recurrent_activation_names[] = {"identity", "sigmoid", "tanh",
                                                                  "relu"};

/// Returns the number of the function `name`; -1 if no function has this name.
constexpr int find_recurrent_activation(std::string_view name) {
  for (int i = 0; i < 4; ++i)
    if (recurrent_activation_names[i] == name) return i;
  return -1;
}

}}  // namespace lamina
