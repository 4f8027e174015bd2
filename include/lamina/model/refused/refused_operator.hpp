// SPDX-License-Identifier: Apache-2.0
// lamina/model/refused/refused_operator.hpp - finds the operator because of which a machine does
// not support a program in double.
#pragma once

#include <lamina/core/config.hpp>

#include <type_traits>

namespace lamina { inline namespace LAMINA_ABI { namespace detail {

/// The operator or the storage because of which a machine does not support a program in double;
/// void if the machine supports the program.
template <class Machine>
struct refused_operator {
  using type = void;
};
template <class Machine>
requires requires { typename Machine::refused; }
struct refused_operator<Machine> {
  using type = typename Machine::refused;
};
/// Whether the machine supports the program.
template <class Machine>
inline constexpr bool accepts_program = std::is_void_v<typename refused_operator<Machine>::type>;

}}}  // namespace lamina::detail
