// SPDX-License-Identifier: Apache-2.0
// lamina/operators/pool/pool2d/common_side.hpp - the windows of a pool2d along the height or the
// width of an image. The file contains no code that throws, so that static evaluators can use it.
#pragma once

#include <lamina/core/config.hpp>

#include <algorithm>
#include <cstddef>

namespace lamina { inline namespace LAMINA_ABI { namespace engine {

/// The windows of a pool2d along one dimension, height or width.
struct pool_side {
  int in, out, size, stride, padding;
  bool adaptive;

  LAMINA_FN constexpr bool is_halved() const {
    return !adaptive && size == 2 && stride == 2 && padding == 0 && 2 * out <= in;
  }
  LAMINA_FN constexpr bool lies_side_by_side() const {
    return !adaptive && size == stride && padding == 0;
  }
  /// Returns the first window that contains element i; if no window contains it, a window after it.
  LAMINA_FN constexpr int first_window(int i) const {
    if (adaptive) return static_cast<int>(static_cast<std::ptrdiff_t>(i) * out / in);
    return i + padding < size ? 0 : (i + padding - size) / stride + 1;
  }
  /// Window i contains the elements [first(i), end(i)).
  LAMINA_FN constexpr int first(int i) const {
    if (adaptive) return static_cast<int>(static_cast<std::ptrdiff_t>(i) * in / out);
    return (std::max)(i * stride - padding, 0);
  }
  LAMINA_FN constexpr int end(int i) const {
    if (adaptive)
      return static_cast<int>((static_cast<std::ptrdiff_t>(i + 1) * in + out - 1) / out);
    return (std::min)(i * stride - padding + size, in);
  }
};

}}}  // namespace lamina::engine
