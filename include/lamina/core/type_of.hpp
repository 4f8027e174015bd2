// SPDX-License-Identifier: Apache-2.0
// lamina/core/type_of.hpp - finds a type by the address of a value that represents it.
//
// A recorded program is a value: an array of operators, each of which refers to its definition by a
// pointer. Kernels are templates on the definition's type, so the type must be found from the
// pointer. The pointer for a type is `&registered<Op>::value`. For the reverse direction, C++20
// offers only a friend function: `registered<Op>` defines, for its own pointer, the function that
// `found_by<pointer>` declares. The set of operators stays open: a user's own operator needs no
// entry in any list.
#pragma once

#include <lamina/core/config.hpp>

namespace lamina { inline namespace LAMINA_ABI {

/// Carries a type as a value.
template <class T>
struct type_tag {
  using type = T;
};

#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wnon-template-friend"
#endif

/// Declares the function that returns the type for a pointer to a registered value.
template <auto* Pointer>
struct found_by {
  friend constexpr auto type_found_by(found_by<Pointer>);
};

#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic pop
#endif

/// Defines that function; instantiated once per (pointer, type).
template <auto* Pointer, class T>
struct finds {
  friend constexpr auto type_found_by(found_by<Pointer>) { return type_tag<T>{}; }
};

/// The type whose registered value is at `Pointer`.
template <auto* Pointer>
using type_of = typename decltype(type_found_by(found_by<Pointer>{}))::type;

}}  // namespace lamina
