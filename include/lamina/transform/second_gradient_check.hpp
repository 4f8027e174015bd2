// SPDX-License-Identifier: Apache-2.0
// lamina/transform/second_gradient_check.hpp - finds gradients of a cost that do not exist.
#pragma once

#include <lamina/core/config.hpp>

#include <utility>

#include <lamina/program/program.hpp>

namespace lamina::inline LAMINA_ABI {

/// Whether the gradients of program P need that of a gradient operator for which there is none, and
/// the name of the operator. P has the gradients.
template <program_type P>
struct second_gradient_check {
  static constexpr bool found = P::desc.fault.kind == fault_kind::second_gradient;
  template <int... Index>
  static auto letters(std::integer_sequence<int, Index...>)
      -> named<P::desc.characters[P::desc.fault.name + Index]...>;
  /// The letters of the operator's name, which the error message shows.
  using name = decltype(letters(std::make_integer_sequence < int,
                                found ? P::desc.fault.name_length : 0 > {}));
};

}  // namespace lamina::inline LAMINA_ABI
