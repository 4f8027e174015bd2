// SPDX-License-Identifier: Apache-2.0
// lamina/core/numbers/whole_sum.hpp - the exact sum and mean of integers.
#pragma once

#include <lamina/core/config.hpp>

#include <cstdint>

namespace lamina { inline namespace LAMINA_ABI {

/// The sum of up to 2^31 integers, in two halves that do not overflow: sum = high * 2^32 + low.
/// Other types are not exact: a double cannot represent odd numbers above 2^53, and a sum in 64
/// bits could wrap around.
struct whole_sum {
  std::int64_t high = 0, low = 0;  // low is not negative

  LAMINA_FN constexpr void add(std::int64_t x) {
    high += x >> 32;
    low += static_cast<std::int64_t>(static_cast<std::uint64_t>(x) & 0xffffffffu);
  }
  /// Returns the sum divided by the number of integers, rounded towards 0; 0 if there are none.
  LAMINA_FN constexpr std::int64_t mean(std::int64_t count) const {
    if (count <= 0) return 0;
    std::int64_t quotient = high / count, rest = high % count;
    if (rest < 0) --quotient, rest += count;
    const std::uint64_t left = (static_cast<std::uint64_t>(rest) << 32) +
                               static_cast<std::uint64_t>(low),
                        n = static_cast<std::uint64_t>(count);
    const auto floor =
        static_cast<std::int64_t>((static_cast<std::uint64_t>(quotient) << 32) + left / n);
    return floor < 0 && left % n != 0 ? floor + 1 : floor;
  }
};

}}  // namespace lamina
