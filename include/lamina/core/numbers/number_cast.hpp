// SPDX-License-Identifier: Apache-2.0
// lamina/core/numbers/number_cast.hpp - converts any number of one type to another type.
#pragma once

#include <lamina/core/config.hpp>

#include <limits>
#include <type_traits>

namespace lamina { inline namespace LAMINA_ABI {

/// Converts x to To. Real numbers are rounded towards 0 for integer types. A number outside the
/// range of To, real or integer, becomes the nearest number of To, and NaN becomes 0. For bool,
/// every value except 0 is true. All other conversions are those of static_cast.
template <class To, class From>
LAMINA_FN constexpr To number_cast(From x) {
  using limits = std::numeric_limits<To>;
  if constexpr (std::is_same_v<To, bool>) {
    return x != From(0);
  } else if constexpr (std::is_integral_v<To> && std::is_floating_point_v<From>) {
    // The smallest integer of To is 0 or minus a power of 2, and the largest integer plus 1 is a
    // power of 2, so From represents both exactly.
    constexpr From beyond = From(2) * static_cast<From>((limits::max)() / 2 + 1);
    if (x >= beyond) return (limits::max)();
    if (x < static_cast<From>((limits::min)())) return (limits::min)();
    return x == x ? static_cast<To>(x) : To(0);
  } else if constexpr (std::is_integral_v<To> && std::is_integral_v<From>) {
    using most = unsigned long long;
    if constexpr (std::is_signed_v<From>)
      if (x < From(0)) {
        constexpr long long least = static_cast<long long>((limits::min)());
        return static_cast<long long>(x) < least ? (limits::min)() : static_cast<To>(x);
      }
    return static_cast<most>(x) > static_cast<most>((limits::max)()) ? (limits::max)()
                                                                     : static_cast<To>(x);
  } else {
    return static_cast<To>(x);
  }
}

/// Converts the result of integer arithmetic to element type To: an integer outside the range of To
/// wraps around, as a sum computed in To would. All other conversions are those of number_cast.
template <class To, class From>
LAMINA_FN constexpr To wrapping_cast(From x) {
  if constexpr (std::is_integral_v<To> && std::is_integral_v<From> && !std::is_same_v<To, bool>)
    return static_cast<To>(x);
  else
    return number_cast<To>(x);
}

}}  // namespace lamina
