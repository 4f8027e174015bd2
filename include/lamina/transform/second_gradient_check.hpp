// SPDX-License-Identifier: Apache-2.0
// lamina/transform/second_gradient_check.hpp - finds gradient operators that a cost depends on and
// that have no gradient.
#pragma once

#include <lamina/core/config.hpp>

#include <utility>

#include <lamina/program/program.hpp>

namespace lamina { inline namespace LAMINA_ABI {

/// `found` says whether the cost of program P depends on a gradient operator without a gradient,
/// and `name` is the name of this operator. P must contain the gradients of its cost, because
/// append_backward stores the fault that is read here.
template <program_type P>
struct second_gradient_check {
  static constexpr bool found = P::desc.fault.kind == fault_kind::second_gradient;
  template <int... Index>
  static auto letters(std::integer_sequence<int, Index...>)
      -> named<P::desc.characters[P::desc.fault.name + Index]...>;
  /// The operator's name as a type with one template argument per letter, so that the compiler's
  /// error message shows it.
  using name = decltype(letters(std::make_integer_sequence < int,
                                found ? P::desc.fault.name_length : 0 > {}));
};

}}  // namespace lamina
