// SPDX-License-Identifier: Apache-2.0
// lamina/core/invoke.hpp - std::invoke without <functional>, which would make the include of
// lamina.hpp take 1.1 times as long (docs/compile_time.md, "Headers of others").
#pragma once

#include <lamina/core/config.hpp>

#include <type_traits>
#include <utility>

namespace lamina { inline namespace LAMINA_ABI {

namespace detail {
template <class T>
constexpr decltype(auto) object_of(T&& t) {
  if constexpr (requires { *t; })
    return *std::forward<T>(t);
  else
    return std::forward<T>(t);
}
}  // namespace detail

/// Calls f(a...). f may also be a pointer to a member of its first argument, or of the object to
/// which that argument points.
template <class F, class... A>
constexpr std::invoke_result_t<F, A...> invoke(F&& f, A&&... a) {
  using plain = std::remove_cvref_t<F>;
  if constexpr (std::is_member_object_pointer_v<plain>)
    return ((detail::object_of(std::forward<A>(a)).*f), ...);
  else if constexpr (std::is_member_function_pointer_v<plain>)
    return [&]<class T, class... B>(T&& t, B&&... b) -> decltype(auto) {
      return (detail::object_of(std::forward<T>(t)).*f)(std::forward<B>(b)...);
    }(std::forward<A>(a)...);
  else
    return std::forward<F>(f)(std::forward<A>(a)...);
}

}}  // namespace lamina
