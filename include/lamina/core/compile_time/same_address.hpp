// SPDX-License-Identifier: Apache-2.0
// lamina/core/compile_time/same_address.hpp - comparisons of addresses in constant expressions.
//
// With -fsanitize=undefined or -fno-delete-null-pointer-checks, g++ assumes that the address of a
// static member of a template may be null. Then a comparison of this address with null or with the
// address of another member is not a constant expression. Only the comparison with itself is
// constant.
#pragma once

#include <lamina/core/config.hpp>

#include <type_traits>

namespace lamina { inline namespace LAMINA_ABI {

namespace detail {

template <class T>
struct address_of {
  static constexpr int value = 0;
};

/// Whether the compiler can compare addresses of static members in constant expressions.
template <class A, class B>
concept compares_addresses = requires {
  typename std::bool_constant<&address_of<A>::value == &address_of<B>::value>;
};

}  // namespace detail

/// Whether two pointers are equal.
template <class T>
constexpr bool same_address(T* a, std::type_identity_t<T>* b) {
#if defined(__GNUC__) && !defined(__clang__)
  if constexpr (!detail::compares_addresses<int, char>)
    if (std::is_constant_evaluated()) return __builtin_constant_p(a == b) && a == b;
#endif
  return a == b;
}

/// Whether a pointer is null.
template <class T>
constexpr bool is_null(T* pointer) {
  return same_address(pointer, nullptr);
}

}}  // namespace lamina
