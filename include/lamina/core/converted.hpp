// SPDX-License-Identifier: Apache-2.0
// lamina/core/converted.hpp - numbers as numbers of another element type, each with one result.
#pragma once

#include <limits>
#include <type_traits>

#include <lamina/core/config.hpp>

namespace lamina {

/// x as a To, on every machine the same. A real number is rounded towards 0; one beyond the range
/// of To becomes its largest or smallest number, NaN becomes 0. Whole numbers keep their low bits.
/// To bool, whatever is not 0 is true.
template <class To, class From>
LAMINA_INLINE LAMINA_FN constexpr To converted(From x) {
  if constexpr (std::is_same_v<To, bool>) {
    return x != From(0);
  } else if constexpr (std::is_integral_v<To> && std::is_floating_point_v<From>) {
    constexpr To least = std::numeric_limits<To>::min(), most = std::numeric_limits<To>::max();
    constexpr From beyond = static_cast<From>(most / 2 + 1) * 2;  // a power of 2, so exact
    if (x >= beyond) return most;
    if (x > static_cast<From>(least) - 1 && x < beyond) return static_cast<To>(x);
    return x < 0 ? least : To(0);
  } else {
    return static_cast<To>(x);
  }
}

}  // namespace lamina
