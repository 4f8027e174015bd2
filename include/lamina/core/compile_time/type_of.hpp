// SPDX-License-Identifier: Apache-2.0
// lamina/core/compile_time/type_of.hpp - finds a type by the address of a value that represents it.
//
// A recorded program is a value: an array of operators, each of which refers to its definition by a
// pointer. Kernels are templates on the definition's type, so the type must be found from the
// pointer. The pointer for a type is `&registered<Op>::value`. The only way in C++20 from this
// pointer back to the type is a friend function: `found_by<pointer>` declares the function, and
// `registered<Op>` defines it for its own pointer. No list of operators is needed, so users can
// define operators too.
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

/// Declares the function that returns the type whose registered value is at `Pointer`.
template <auto* Pointer>
struct found_by {
  friend constexpr auto type_found_by(found_by<Pointer>);
};

#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic pop
#endif

/// Defines the function that found_by<Pointer> declares. `finds` must be instantiated only once per
/// pointer, because a second type for the same pointer would redefine the function.
template <auto* Pointer, class T>
struct finds {
  friend constexpr auto type_found_by(found_by<Pointer>) { return type_tag<T>{}; }
};

/// The type whose registered value is at `Pointer`.
template <auto* Pointer>
using type_of = typename decltype(type_found_by(found_by<Pointer>{}))::type;

}}  // namespace lamina
