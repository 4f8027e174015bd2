// SPDX-License-Identifier: Apache-2.0
// lamina/core/number_cast.hpp - a number of one type as one of another, for every value.
#pragma once

#include <limits>
#include <type_traits>

#include <lamina/core/config.hpp>

namespace lamina {

/// x as To. To an integer a real number is rounded towards 0; one that To cannot hold becomes the
/// nearest number that it holds, and NaN becomes 0. To bool everything but 0 is true. All else is
/// as static_cast does it.
template <class To, class From>
LAMINA_FN constexpr To number_cast(From x) {
  if constexpr (std::is_same_v<To, bool>) {
    return x != From(0);
  } else if constexpr (std::is_integral_v<To> && std::is_floating_point_v<From>) {
    using limits = std::numeric_limits<To>;
    // The smallest integer is a power of 2, or 0, and so is the largest one plus 1: both are exact.
    constexpr From beyond = From(2) * static_cast<From>(limits::max() / 2 + 1);
    if (x >= beyond) return limits::max();
    if (x < static_cast<From>(limits::min())) return limits::min();
    return x == x ? static_cast<To>(x) : To(0);
  } else {
    return static_cast<To>(x);
  }
}

}  // namespace lamina
