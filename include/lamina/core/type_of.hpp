// SPDX-License-Identifier: Apache-2.0
// lamina/core/type_of.hpp - a value that stands for a type, and the way back.
//
// Why this looks the way it does. A recorded program is a value: an array of operators, each of
// which refers to its definition by a pointer. Kernels are templates on the definition's type. The
// way from type to pointer is `&registered<Op>::value`; C++20 has no way back but a friend
// function: `registered<Op>` defines, for its own pointer, the function that `found_by<pointer>`
// declares. The set of operators stays open: a user's own operator needs no entry in any list.
#pragma once

namespace lamina {

/// Carries a type as a value.
template <class T>
struct type_tag {
  using type = T;
};

#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wnon-template-friend"
#endif

/// Declares the way back from a pointer to a registered value.
template <auto* Pointer>
struct found_by {
  friend constexpr auto type_found_by(found_by<Pointer>);
};

#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic pop
#endif

/// Defines it: instantiated once for each (pointer, type).
template <auto* Pointer, class T>
struct finds {
  friend constexpr auto type_found_by(found_by<Pointer>) { return type_tag<T>{}; }
};

/// The type whose registered value lies at `Pointer`.
template <auto* Pointer>
using type_of = typename decltype(type_found_by(found_by<Pointer>{}))::type;

}  // namespace lamina
