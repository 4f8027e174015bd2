// SPDX-License-Identifier: Apache-2.0
// lamina/operators/norm/batch_norm/cpu.hpp - the statistics of batch_norm and the sums of its
// gradient; fused groups compute the elements (operators/conv/lowering.hpp).
#pragma once

#include <lamina/core/config.hpp>

#include <algorithm>
#include <cmath>

#include <lamina/engine/common/real_numbers.hpp>
#include <lamina/engine/cpu/vector/long_sums.hpp>
#include <lamina/plan/image_operators.hpp>

namespace lamina::inline LAMINA_ABI::engine::cpu {

namespace detail {

/// The layout of channels in a batch. The elements of a channel are contiguous in each row.
struct channel_rows {
  int rows, channels, size;  // size: elements of a channel in a row

  /// Takes the channels in a row as an argument, because x may be a plan's copy of a feed, which
  /// has no dimensions.
  channel_rows(const operand& x, int in_row)
      : rows(x.rows), channels(in_row), size(in_row > 0 ? x.columns / in_row : 0) {}
  template <class Real>
  Real count() const {
    return static_cast<Real>(rows) * static_cast<Real>(size);
  }
};

// The number of channels whose sums over the batch (doubles) are on the stack together.
inline constexpr int channels_together = 64;

/// Whether each channel has only a single element in the batch, which then equals its mean.
inline bool has_one_value(const channel_rows& r) { return r.rows == 1 && r.size == 1; }

/// Mean and biased variance per channel of a batch whose channels have one element per row.
template <class Real>
inline void side_moments(const operand& x, const channel_rows& r, Real* mean, Real* variance) {
  constexpr int lanes = lanes_in<Real>, together = 8;
  const double count = r.count<double>();
  for (int first = 0; first < r.channels; first += channels_together) {
    const int n = (std::min)(channels_together, r.channels - first);
    const Real* const from = x.row<const Real>(0) + first;
    const std::ptrdiff_t stride = x.stride;
    Real* const m = mean + first;
    alignas(64) double sums[channels_together] = {};
    sum_rows(from, r.rows, x.stride, n, sums);
    for (int c = 0; c < n; ++c) m[c] = static_cast<Real>(sums[c] / count);
    // Adds up the squares of a few rows in Real, then adds these sums in double.
    std::fill_n(sums, n, 0.0);
    for (int row = 0; row < r.rows; row += together) {
      const int end = (std::min)(row + together, r.rows);
      int c = 0;
      for (; c + lanes <= n; c += lanes) {
        const auto centre = vector_in<Real>::load_unaligned(m + c);
        vector_in<Real> squares(Real(0));
        for (int k = row; k < end; ++k) {
          const auto off = vector_in<Real>::load_unaligned(from + k * stride + c) - centre;
          squares = fused_multiply_add(off, off, squares);
        }
        add_to_sums<Real>(sums + c, squares);
      }
      for (; c < n; ++c)
        for (int k = row; k < end; ++k) {
          const Real off = from[k * stride + c] - m[c];
          sums[c] += static_cast<double>(off * off);
        }
    }
    for (int c = 0; c < n; ++c) variance[first + c] = static_cast<Real>(sums[c] / count);
  }
}

/// Mean and biased variance of each channel of a batch. Each image is read once: its own moments
/// are computed while it is in the cache and merged in double with the formula of Chan, Golub and
/// LeVeque (1983).
template <class Real>
inline void batch_moments(const operand& x, const channel_rows& r, Real* mean, Real* variance) {
  if (r.size == 1) return side_moments(x, r, mean, variance);
  const double size = r.size;
  const Real share = 1 / static_cast<Real>(r.size);
  for (int first = 0; first < r.channels; first += channels_together) {
    const int n = (std::min)(channels_together, r.channels - first);
    double means[channels_together] = {}, squares[channels_together] = {};
    for (int row = 0; row < r.rows; ++row) {
      const Real* from = x.row<const Real>(row) + static_cast<std::ptrdiff_t>(first) * r.size;
      const double next = row + 1.0, before = row / next;
      for (int c = 0; c < n; ++c, from += r.size) {
        const Real own = row_sum(from, r.size) * share;
        const double off = static_cast<double>(own) - means[c];
        means[c] += off / next;
        squares[c] +=
            static_cast<double>(squared_distance(from, own, r.size)) + off * off * size * before;
      }
    }
    for (int c = 0; c < n; ++c) {
      mean[first + c] = static_cast<Real>(means[c]);
      variance[first + c] = static_cast<Real>(squares[c] / r.count<double>());
    }
  }
}

/// 1 / sqrt(variance + epsilon) of a channel. If the variance overflows Real, its root may still be
/// finite: then this function computes mean and variance again in a wider type.
template <class Real>
inline Real inverse_of_channel(const operand& x, const channel_rows& r, int channel, Real epsilon,
                               Real& mean, Real& variance) {
  if (is_finite(variance)) return inverse_deviation(variance, epsilon);
  const auto all =
      wide_moments<Real>(static_cast<std::ptrdiff_t>(r.rows) * r.size, epsilon, [&](const auto& f) {
        for (int row = 0; row < r.rows; ++row)
          for (int j = 0; j < r.size; ++j)
            f(x.row<const Real>(row)[static_cast<std::ptrdiff_t>(channel) * r.size + j]);
      });
  mean = all.mean;
  variance = all.variance;
  return all.inverse;
}

/// Scale@GRAD of a channel if a product of a slope and a difference from the mean overflows.
template <class Real>
LAMINA_COLD Real wide_slope_of(const operand& x, const operand& d, const channel_rows& r,
                               int channel, Real mean, Real inverse) {
  wide_number<Real> sum = 0;
  const std::ptrdiff_t at = static_cast<std::ptrdiff_t>(channel) * r.size;
  for (int row = 0; row < r.rows; ++row)
    sum +=
        wide_slope(d.row<const Real>(row) + at, x.row<const Real>(row) + at, mean, inverse, r.size);
  return static_cast<Real>(sum);
}

/// sums[0] = sum of d[j], sums[1] = sum of d[j] * (x[j] - mean).
template <class Real>
inline void slope_sums(const Real* d, const Real* x, Real mean, int size, Real* sums) {
  using vector = vector_in<Real>;
  constexpr int lanes = lanes_in<Real>;
  vector all[2] = {vector(Real(0)), vector(Real(0))},
         weighted[2] = {vector(Real(0)), vector(Real(0))};
  const vector centre(mean);
  int j = 0;
  const auto add = [&](int at, int chain) __attribute__((always_inline)) {
    const vector slope = vector::load_unaligned(d + at);
    all[chain] += slope;
    weighted[chain] =
        fused_multiply_add(slope, vector::load_unaligned(x + at) - centre, weighted[chain]);
  };
  for (; j + 2 * lanes <= size; j += 2 * lanes) add(j, 0), add(j + lanes, 1);
  for (; j + lanes <= size; j += lanes) add(j, 0);
  sums[0] = sum_of(all[0] + all[1]);
  sums[1] = sum_of(weighted[0] + weighted[1]);
  for (; j < size; ++j) {
    sums[0] += d[j];
    sums[1] += d[j] * (x[j] - mean);
  }
}

/// Reports an error for any other input: the kernels below serve only images of the program's real
/// type, one image per row.
struct foreign_batch_norm {
  template <class Real = float>
  static void run(const call_context& c) {
    require_real<Real>(c, c.input(0));
    fail(c, {"expected images, one per row of the batch"});
  }
};

}  // namespace detail

template <>
struct call_kernel<batch_norm> : detail::foreign_batch_norm {};
template <>
struct call_kernel<gradient_of<batch_norm>> : detail::foreign_batch_norm {};

template <>
struct call_kernel<batch_norm_factor> {
  template <class Real = float>
  static void run(const call_context& c) {
    const operand x = c.input(0), factor = c.output(4);
    const int channels = factor.columns;
    const Real keep = static_cast<Real>(c.number(1)), epsilon = static_cast<Real>(c.number(2));
    const Real *moving_mean = c.input(3).row<const Real>(0),
               *moving_variance = c.input(4).row<const Real>(0);
    Real* const mean = numbers_at<Real>(c.scratch());
    Real* const variance = mean + padded(channels);
    // A single element passes unchanged: (x - Bias) * 1 + Bias. Source: Fluid.
    if (x && detail::has_one_value({x, channels})) {
      const Real* const bias = c.input(2).row<const Real>(0);
      std::fill_n(factor.row<Real>(0), channels, Real(1));
      if (const operand saved = c.output(2)) std::copy_n(bias, channels, saved.row<Real>(0));
      if (const operand saved = c.output(3)) std::fill_n(saved.row<Real>(0), channels, Real(1));
      return;
    }
    Real* const inverse = factor.row<Real>(0);
    // A batch without rows leaves the statistics unchanged.
    if (x && x.rows > 0) {
      const detail::channel_rows r(x, channels);
      detail::batch_moments(x, r, mean, variance);
      for (int i = 0; i < channels; ++i)
        inverse[i] = detail::inverse_of_channel(x, r, i, epsilon, mean[i], variance[i]);
      const operand next_mean = c.output(0), next_variance = c.output(1);
      for (int i = 0; i < channels; ++i) {
        if (next_mean) next_mean.row<Real>(0)[i] = keep * moving_mean[i] + (1 - keep) * mean[i];
        if (next_variance)
          next_variance.row<Real>(0)[i] = keep * moving_variance[i] + (1 - keep) * variance[i];
      }
    } else {
      std::copy_n(moving_mean, channels, mean);
      for (int i = 0; i < channels; ++i) inverse[i] = 1 / std::sqrt(moving_variance[i] + epsilon);
    }
    if (const operand saved = c.output(2)) std::copy_n(mean, channels, saved.row<Real>(0));
    if (const operand saved = c.output(3)) std::copy_n(inverse, channels, saved.row<Real>(0));
    const Real* const scale = c.input(1).row<const Real>(0);
    for (int i = 0; i < channels; ++i) inverse[i] *= scale[i];
  }
  template <class Real = float>
  static std::ptrdiff_t scratch(const call_context& c) {
    return in_floats<Real>(2 * static_cast<std::ptrdiff_t>(padded(c.output(4).columns)));
  }
};

template <>
struct call_kernel<batch_norm_slopes> {
  template <class Real = float>
  static void run(const call_context& c) {
    const operand x = c.input(0), scale = c.input(1), d = c.input(4);
    const detail::channel_rows r(x, scale.columns);
    const Real *mean = c.input(2).row<const Real>(0), *inverse = c.input(3).row<const Real>(0);
    Real* const sum_d = numbers_at<Real>(c.scratch());
    Real* const sum_dh = sum_d + padded(r.channels);
    const bool given = c.flag(0) || c.flag(4), passes = !given && detail::has_one_value(r);
    std::fill_n(sum_d, r.channels, Real(0));
    std::fill_n(sum_dh, r.channels, Real(0));
    for (int first = 0; first < r.channels && !passes; first += detail::channels_together) {
      const int n = (std::min)(detail::channels_together, r.channels - first);
      double all[detail::channels_together] = {}, weighted[detail::channels_together] = {};
      for (int row = 0; row < r.rows; ++row) {
        const std::ptrdiff_t at = static_cast<std::ptrdiff_t>(first) * r.size;
        const Real *from = x.row<const Real>(row) + at, *slope = d.row<const Real>(row) + at;
        if (r.size == 1) {
          for (int i = 0; i < n; ++i) {
            all[i] += static_cast<double>(slope[i]);
            weighted[i] += static_cast<double>(slope[i] * (from[i] - mean[first + i]));
          }
          continue;
        }
        for (int i = 0; i < n; ++i, from += r.size, slope += r.size) {
          Real sums[2];
          detail::slope_sums(slope, from, mean[first + i], r.size, sums);
          all[i] += static_cast<double>(sums[0]);
          weighted[i] += static_cast<double>(sums[1]);
        }
      }
      for (int i = 0; i < n; ++i) {
        sum_d[first + i] = static_cast<Real>(all[i]);
        sum_dh[first + i] = static_cast<Real>(weighted[i]);
      }
    }
    for (int i = 0; i < r.channels && r.rows > 0; ++i) {
      sum_dh[i] *= inverse[i];
      if (!is_finite(sum_dh[i])) sum_dh[i] = detail::wide_slope_of(x, d, r, i, mean[i], inverse[i]);
    }
    if (const operand to = c.output(0)) std::copy_n(sum_dh, r.channels, to.row<Real>(0));
    if (const operand to = c.output(1)) std::copy_n(sum_d, r.channels, to.row<Real>(0));
    const operand share = c.output(2), line = c.output(3), factor = c.output(4);
    if (!factor) return;
    const Real of_all = given || r.rows == 0 ? Real(0) : 1 / r.count<Real>();
    for (int i = 0; i < r.channels; ++i) {
      if (share) share.row<Real>(0)[i] = sum_d[i] * of_all;
      if (line) line.row<Real>(0)[i] = sum_dh[i] * of_all * inverse[i];
      factor.row<Real>(0)[i] = passes ? Real(1) : scale.row<const Real>(0)[i] * inverse[i];
    }
  }
  template <class Real = float>
  static std::ptrdiff_t scratch(const call_context& c) {
    return in_floats<Real>(2 * static_cast<std::ptrdiff_t>(padded(c.input(1).columns)));
  }
};

}  // namespace lamina::inline LAMINA_ABI::engine::cpu
