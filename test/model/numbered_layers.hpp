// SPDX-License-Identifier: Apache-2.0
// Programs with many data layers, whose names are numbers.
#pragma once

#include <utility>

#include <lamina/core/compile_time/fixed_string.hpp>
#include <lamina/layers/layers.hpp>

namespace test {

/// "x00" to "x99".
template <int I>
constexpr lamina::fixed_string<4> name_of = [] {
  lamina::fixed_string<4> name("x00");
  name.text[1] = static_cast<char>('0' + I / 10);
  name.text[2] = static_cast<char>('0' + I % 10);
  return name;
}();
/// The sum of data layers with the numbers First to First + sizeof...(I) - 1.
template <int First, int... I>
constexpr auto sum_of_layers(lamina::block& main, std::integer_sequence<int, I...>) {
  return (lamina::layer::data<name_of<First + I>, float>(main) + ...);
}

}  // namespace test
