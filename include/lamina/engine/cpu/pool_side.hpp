// SPDX-License-Identifier: Apache-2.0
// lamina/engine/cpu/pool_side.hpp - the windows of a pool2d along one side of an image.
#pragma once

#include <algorithm>
#include <cstddef>

namespace lamina::engine::cpu::detail {

/// One side of the windows of a pool2d.
struct pool_side {
  int in, out, size, stride, padding;
  bool adaptive;

  constexpr bool is_halved() const {
    return !adaptive && size == 2 && stride == 2 && padding == 0 && 2 * out <= in;
  }
  /// The elements from first to before end that window i holds.
  constexpr int first(int i) const {
    if (adaptive) return static_cast<int>(static_cast<std::ptrdiff_t>(i) * in / out);
    return std::max(i * stride - padding, 0);
  }
  constexpr int end(int i) const {
    if (adaptive)
      return static_cast<int>((static_cast<std::ptrdiff_t>(i + 1) * in + out - 1) / out);
    return std::min(i * stride - padding + size, in);
  }
};

}  // namespace lamina::engine::cpu::detail
