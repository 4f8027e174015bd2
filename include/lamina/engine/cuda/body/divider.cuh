// SPDX-License-Identifier: Apache-2.0
// lamina/engine/cuda/body/divider.cuh - integer division by a kernel argument, computed as a
// multiplication and a shift.
#pragma once

#include <lamina/core/config.hpp>

#include <cstdint>

namespace lamina { inline namespace LAMINA_ABI { namespace engine::cuda {

/// Divides numbers n with 0 <= n < 2^31 by a fixed divisor d. With p = 31 + ceil(log2 d) and m =
/// ceil(2^p / d), the quotient is n m / 2^p rounded down. This is exact because m d exceeds 2^p by
/// less than d. Source: Granlund and Montgomery, Division by invariant integers using
/// multiplication (1994).
class divider {
 public:
  divider() = default;
  explicit divider(int by) : divisor_(by < 1 ? 1 : by) {
    int bits = 0;
    while ((std::int64_t{1} << bits) < divisor_) ++bits;
    shift_ = 31 + bits;
    const std::uint64_t power = std::uint64_t{1} << shift_, d = static_cast<unsigned>(divisor_);
    factor_ = static_cast<std::uint32_t>((power + d - 1) / d);
  }
  LAMINA_INLINE LAMINA_FN int divisor() const { return divisor_; }
  LAMINA_INLINE LAMINA_FN int quotient(int n) const {
    return static_cast<int>(std::uint64_t{factor_} * static_cast<std::uint32_t>(n) >> shift_);
  }
  /// Returns the quotient; n becomes the remainder.
  LAMINA_INLINE LAMINA_FN int divide(int& n) const {
    const int q = quotient(n);
    n -= q * divisor_;
    return q;
  }

 private:
  int divisor_ = 1;
  int shift_ = 31;
  std::uint32_t factor_ = 1u << 31;
};

}}}  // namespace lamina::engine::cuda
