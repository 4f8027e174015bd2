// SPDX-License-Identifier: Apache-2.0
// lamina/operators/resize/cpu.hpp - bilinear_interp and nearest_interp, which resize images, and
// pad2d, which pads them.
#pragma once

#include <lamina/core/config.hpp>

#include <lamina/engine/cpu/vector/row_math.hpp>
#include <lamina/operators/resize/common.hpp>
#include <lamina/operators/resize/definition.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace engine::cpu {

namespace detail {

/// Returns the linear interpolation (1 - fraction) * a + fraction * b. If `fraction` is 0 or a
/// equals b, returns a, because the formula would give NaN if a or b is infinite.
template <class Real>
LAMINA_INLINE Real between(Real a, Real b, float fraction) {
  return fraction == 0 || a == b ? a : (1 - fraction) * a + fraction * b;
}

/// Resizes images. The columns of the image between which a column of the result lies are computed
/// once for all rows.
template <bool Nearest, class Real>
class resize_kernel {
 public:
  /// Returns the number of scratch floats for low, high and fraction, which have one number per
  /// column each.
  static std::ptrdiff_t floats(const operand& large) { return 3 * padded(large.dims[3]); }

  /// `size` is the input OutSize; the gradient operator has no such input.
  resize_kernel(const call_context& c, const operand& x, const operand& y, const operand& size)
      : height_(x.dims[2]),
        width_(x.dims[3]),
        out_height_(y.dims[2]),
        out_width_(y.dims[3]),
        channels_(x.dims[1]),
        align_(c.flag(3)),
        mode_(c.integer(4)) {
    if (size && (integer_in(size, 0, 0) != out_height_ || integer_in(size, 0, 1) != out_width_))
      fail(c, {"expected the OutSize ", out_height_, ", ", out_width_, ", found another"});
    fraction_ = c.scratch();
    low_ = reinterpret_cast<int*>(fraction_ + padded(out_width_));
    high_ = low_ + padded(out_width_);
    for (int k = 0; k < out_width_; ++k) {
      const interpolation_position p =
          position_between(k, width_, out_width_, Nearest, align_, mode_);
      low_[k] = p.low;
      high_[k] = p.high;
      fraction_[k] = p.fraction;
    }
  }

  void run(const operand& x, const operand& y) const {
    for_each_row(x.rows, [&](int r, std::ptrdiff_t upper, std::ptrdiff_t lower, float fraction,
                             std::ptrdiff_t at) {
      const Real *const u = x.row<const Real>(r) + upper, *const l = x.row<const Real>(r) + lower;
      Real* const to = y.row<Real>(r) + at;
      for (int k = 0; k < out_width_; ++k) {
        if constexpr (Nearest) {
          to[k] = u[low_[k]];
        } else {
          const Real above = between(u[low_[k]], u[high_[k]], fraction_[k]);
          const Real below = between(l[low_[k]], l[high_[k]], fraction_[k]);
          to[k] = between(above, below, fraction);
        }
      }
    });
  }
  void run_gradient(const operand& d, const operand& dx) const {
    clear(dx);
    for_each_row(d.rows, [&](int r, std::ptrdiff_t upper, std::ptrdiff_t lower, float fraction,
                             std::ptrdiff_t at) {
      Real *const u = dx.row<Real>(r) + upper, *const l = dx.row<Real>(r) + lower;
      const Real* const from = d.row<const Real>(r) + at;
      for (int k = 0; k < out_width_; ++k) {
        if constexpr (Nearest) {
          u[low_[k]] += from[k];
        } else {
          // A term with the weight 0 is skipped, because 0 times an infinite gradient is NaN.
          spread(u, k, (1 - fraction) * from[k]);
          if (fraction != 0) spread(l, k, fraction * from[k]);
        }
      }
    });
  }

 private:
  /// Calls f(row, offset of the upper image row, offset of the lower image row, weight of the lower
  /// row, offset of the result's row) for each row of the result.
  template <class F>
  LAMINA_INLINE void for_each_row(int rows, F f) const {
    for (int r = 0; r < rows; ++r)
      for (int c = 0; c < channels_; ++c)
        for (int k = 0; k < out_height_; ++k) {
          const interpolation_position p =
              position_between(k, height_, out_height_, Nearest, align_, mode_);
          const std::ptrdiff_t image = static_cast<std::ptrdiff_t>(c) * height_;
          f(r, (image + p.low) * width_, (image + p.high) * width_, p.fraction,
            (static_cast<std::ptrdiff_t>(c) * out_height_ + k) * out_width_);
        }
  }

  /// Adds the gradient d of column k of the result to the two columns of the image from which it
  /// was interpolated.
  void spread(Real* row, int k, Real d) const {
    row[low_[k]] += (1 - fraction_[k]) * d;
    if (fraction_[k] != 0) row[high_[k]] += fraction_[k] * d;
  }

  int height_, width_, out_height_, out_width_, channels_;
  bool align_;
  int mode_;
  float* fraction_;
  int *low_, *high_;
};

template <bool Nearest>
struct interpolate {
  template <class Real = float>
  static void run(const call_context& c) {
    const operand x = c.input(0), y = c.output(0);
    require_real<Real>(c, x);
    resize_kernel<Nearest, Real>(c, x, y, c.input(1)).run(x, y);
  }
  template <class Real = float>
  static std::ptrdiff_t scratch(const call_context& c) {
    return resize_kernel<Nearest, Real>::floats(c.output(0));
  }
};
template <bool Nearest>
struct interpolate_gradient {
  template <class Real = float>
  static void run(const call_context& c) {
    const operand x = c.input(0), d = c.input(1), dx = c.output(0);
    if (dx) resize_kernel<Nearest, Real>(c, x, d, operand{}).run_gradient(d, dx);
  }
  template <class Real = float>
  static std::ptrdiff_t scratch(const call_context& c) {
    return resize_kernel<Nearest, Real>::floats(c.input(1));
  }
};

/// Calls f(row, position in the padded image, position in the image or -1 for a constant) for each
/// element of the padded images.
template <class F>
void for_each_padded(const call_context& c, const operand& x, const operand& y, F f) {
  const padded_image image(c, x, y);
  const int height = image.rows.in, width = image.columns.in;
  const int out_height = image.rows.out, out_width = image.columns.out;
  for (int r = 0; r < x.rows; ++r)
    for (int i = 0; i < x.dims[1] * out_height; ++i) {
      const int row = image.rows.at(i % out_height);
      const std::ptrdiff_t from =
          (static_cast<std::ptrdiff_t>(i / out_height) * height + row) * width;
      for (int k = 0; k < out_width; ++k) {
        const int column = image.columns.at(k);
        f(r, static_cast<std::ptrdiff_t>(i) * out_width + k,
          row < 0 || column < 0 ? std::ptrdiff_t{-1} : from + column);
      }
    }
}

}  // namespace detail

template <>
struct call_kernel<operators::bilinear_interp> : detail::interpolate<false> {};
template <>
struct call_kernel<gradient_of<operators::bilinear_interp>> : detail::interpolate_gradient<false> {
};
template <>
struct call_kernel<operators::nearest_interp> : detail::interpolate<true> {};
template <>
struct call_kernel<gradient_of<operators::nearest_interp>> : detail::interpolate_gradient<true> {};

template <>
struct call_kernel<operators::pad2d> {
  template <class Real = float>
  LAMINA_KERNEL static void run(const call_context& c);
};
template <>
struct call_kernel<gradient_of<operators::pad2d>> {
  template <class Real = float>
  LAMINA_KERNEL static void run(const call_context& c);
};

#if LAMINA_DEFINES

template <class Real>
void call_kernel<operators::pad2d>::run(const call_context& c) {
  const operand x = c.input(0), y = c.output(0);
  require_real<Real>(c, x);
  const Real value = static_cast<Real>(c.number(1));
  detail::for_each_padded(c, x, y, [&](int r, std::ptrdiff_t to, std::ptrdiff_t from) {
    y.row<Real>(r)[to] = from < 0 ? value : x.row<const Real>(r)[from];
  });
}
LAMINA_INSTANCE(void call_kernel<operators::pad2d>::run<float>(const call_context&))
LAMINA_INSTANCE(void call_kernel<operators::pad2d>::run<double>(const call_context&))

template <class Real>
void call_kernel<gradient_of<operators::pad2d>>::run(const call_context& c) {
  const operand x = c.input(0), d = c.input(1), dx = c.output(0);
  if (!dx) return;
  clear(dx);
  detail::for_each_padded(c, x, d, [&](int r, std::ptrdiff_t to, std::ptrdiff_t from) {
    if (from >= 0) dx.row<Real>(r)[from] += d.row<const Real>(r)[to];
  });
}
LAMINA_INSTANCE(void call_kernel<gradient_of<operators::pad2d>>::run<float>(const call_context&))
LAMINA_INSTANCE(void call_kernel<gradient_of<operators::pad2d>>::run<double>(const call_context&))

#endif  // LAMINA_DEFINES

}}}  // namespace lamina::engine::cpu
