// SPDX-License-Identifier: Apache-2.0
// lamina/operators/norm/batch_norm/cpu_channels.hpp - mean and variance of the channels of a batch.
#pragma once

#include <lamina/core/config.hpp>

#include <algorithm>
#include <cstddef>

#include <lamina/engine/common/real_numbers.hpp>
#include <lamina/engine/cpu/vector/long_sums.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace engine::cpu::detail {

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

/// Returns the sum of squared distances of `count` numbers from their exact mean. `squares` is the
/// sum of squared distances from `centre`, which is the mean rounded to Real.
template <class Real>
inline double squares_of(double squares, double count, double mean, Real centre) {
  const double off = mean - static_cast<double>(centre), exact = squares - count * off * off;
  return exact < 0 ? 0.0 : exact;  // a NaN stays NaN
}

/// Moments of a batch whose channels have one element per row.
template <class Real, class Give>
inline void side_moments(const operand& x, const channel_rows& r, const Give& give) {
  constexpr int lanes = lanes_in<Real>, together = 8;
  const double count = r.count<double>();
  for (int first = 0; first < r.channels; first += channels_together) {
    const int n = (std::min)(channels_together, r.channels - first);
    const Real* const from = x.row<const Real>(0) + first;
    const std::ptrdiff_t stride = x.stride;
    alignas(64) Real centres[channels_together];
    alignas(64) double offs[channels_together] = {}, sums[channels_together] = {};
    sum_rows(from, r.rows, x.stride, n, sums);
    for (int c = 0; c < n; ++c) centres[c] = static_cast<Real>(sums[c] / count);
    // Adds up the differences from a nearly exact mean, and their squares. The terms of a few rows
    // are added in Real, the resulting sums in double.
    std::fill_n(sums, n, 0.0);
    for (int row = 0; row < r.rows; row += together) {
      const int end = (std::min)(row + together, r.rows);
      int c = 0;
      for (; c + lanes <= n; c += lanes) {
        const auto centre = vector_in<Real>::load_unaligned(centres + c);
        vector_in<Real> all(Real(0)), squares(Real(0));
        for (int k = row; k < end; ++k) {
          const auto off = vector_in<Real>::load_unaligned(from + k * stride + c) - centre;
          all += off;
          squares = fused_multiply_add(off, off, squares);
        }
        add_to_sums<Real>(offs + c, all);
        add_to_sums<Real>(sums + c, squares);
      }
      for (; c < n; ++c)
        for (int k = row; k < end; ++k) {
          const Real off = from[k * stride + c] - centres[c];
          offs[c] += static_cast<double>(off);
          sums[c] += static_cast<double>(off * off);
        }
    }
    for (int c = 0; c < n; ++c) {
      const double mean = static_cast<double>(centres[c]) + offs[c] / count;
      give(first + c, mean, squares_of(sums[c], count, mean, centres[c]));
    }
  }
}

/// Calls give(channel, mean, sum of squared distances from the mean) for each channel of a batch;
/// both are exact to the rounding of double and of the squares. Each image is read once: its own
/// moments are computed while it is in the cache and merged in double with the formula of Chan,
/// Golub and LeVeque (1983).
template <class Real, class Give>
inline void each_moments(const operand& x, const channel_rows& r, const Give& give) {
  if (r.size == 1) return side_moments<Real>(x, r, give);
  const double size = r.size;
  for (int first = 0; first < r.channels; first += channels_together) {
    const int n = (std::min)(channels_together, r.channels - first);
    double means[channels_together] = {}, squares[channels_together] = {};
    for (int row = 0; row < r.rows; ++row) {
      const Real* from = x.row<const Real>(row) + static_cast<std::ptrdiff_t>(first) * r.size;
      const double next = row + 1.0, before = row / next;
      for (int c = 0; c < n; ++c, from += r.size) {
        // Differences from the first element keep the digits of an image whose mean is far from 0.
        const double own = static_cast<double>(*from) +
                           static_cast<double>(sum_of_offsets(from, *from, r.size)) / size;
        const Real centre = static_cast<Real>(own);
        const double off = own - means[c];
        means[c] += off / next;
        squares[c] += squares_of(static_cast<double>(squared_distance(from, centre, r.size)), size,
                                 own, centre) +
                      off * off * size * before;
      }
    }
    for (int c = 0; c < n; ++c) give(first + c, means[c], squares[c]);
  }
}

/// Mean and biased variance of each channel of a batch.
template <class Real>
inline void batch_moments(const operand& x, const channel_rows& r, Real* mean, Real* variance) {
  const double count = r.count<double>();
  each_moments<Real>(x, r, [&](int c, double centre, double squares) {
    mean[c] = static_cast<Real>(centre);
    variance[c] = static_cast<Real>(squares / count);
  });
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

}}}  // namespace lamina::engine::cpu::detail
