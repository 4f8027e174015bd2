// SPDX-License-Identifier: Apache-2.0
// lamina/operators/pool/pool2d/common.hpp - the windows of a pool2d in an image.
#pragma once

#include <lamina/core/config.hpp>

#include <cstddef>

#include <lamina/engine/common/call_error.hpp>
#include <lamina/operators/pool/pool2d/common_side.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace engine {

/// The windows of a pool2d.
struct pool_windows {
  bool is_average, counts_padding;
  pool_side height, width;
  int channels;

  pool_windows(const operator_call& c, const operand& x, const operand& y)
      : is_average(text_of(c, 0) == "avg"),
        counts_padding(!c.flag(5) && !c.flag(6)),
        height(side(c, x, y, 0)),
        width(side(c, x, y, 1)),
        channels(x.dims[1]) {
    if (!is_average && text_of(c, 0) != "max")
      fail(c, {"expected a pooling_type 'max' or 'avg', found '", text_of(c, 0), "'"});
  }

  /// Whether the windows are 2 by 2 and do not overlap, as in most pools of most networks.
  bool are_squares() const { return height.is_halved() && width.is_halved(); }
  /// Whether windows neither overlap nor leave gaps. Then each element is in exactly one window,
  /// except for elements after the last windows, which are in no window.
  bool lie_side_by_side() const { return height.lies_side_by_side() && width.lies_side_by_side(); }
  LAMINA_FN std::ptrdiff_t in_size() const {
    return static_cast<std::ptrdiff_t>(height.in) * width.in;
  }
  LAMINA_FN std::ptrdiff_t out_size() const {
    return static_cast<std::ptrdiff_t>(height.out) * width.out;
  }
  /// Returns the weight, 1 / the divisor, in the average of a window with `rows` x `columns`
  /// elements of the image.
  template <class Real = float>
  LAMINA_FN Real weight(int rows, int columns) const {
    return Real(1) / static_cast<Real>(counts_padding ? height.size * width.size : rows * columns);
  }

 private:
  static pool_side side(const operator_call& c, const operand& x, const operand& y, int d) {
    const bool whole = c.flag(2);
    const int in = x.dims[2 + d];
    return {in,
            y.dims[2 + d],
            whole ? in : c.integer_at(1, d),
            whole ? 1 : c.integer_at(3, d),
            whole ? 0 : c.integer_at(4, d),
            c.flag(6)};
  }
};

}}}  // namespace lamina::engine
