// SPDX-License-Identifier: Apache-2.0
// lamina/engine/cpu/batch_norm_kernels.hpp - the sums of batch_norm and of its gradient; what is
// computed element by element are statements of fused groups (plan/image_lowering.hpp).
#pragma once

#include <algorithm>
#include <cmath>

#include <lamina/engine/cpu/row_math.hpp>
#include <lamina/plan/image_operators.hpp>

namespace lamina::engine::cpu {

namespace detail {

/// The channels of a batch. Elements of a channel lie side by side in a row.
struct channel_rows {
  int rows, channels, size;  // size: elements of a channel in a row

  /// The images may be a plan's own copy of a feed, which knows no dimensions.
  channel_rows(const operand& x, int in_row)
      : rows(x.rows), channels(in_row), size(in_row > 0 ? x.columns / in_row : 0) {}
  float count() const { return static_cast<float>(rows) * static_cast<float>(size); }
};

/// Mean and biased variance of each channel of a batch where each is one number in a row.
inline void side_moments(const operand& x, const channel_rows& r, float* mean, float* variance) {
  const float share = 1 / r.count();
  for (int n = 0; n < r.rows; ++n) {
    const float* const from = x.row<const float>(n);
    for_each_place(r.channels, [=](std::ptrdiff_t j, auto like) {
      store(mean + j, decltype(like)(load(mean + j, like) + load(from + j, like)));
    });
  }
  for (int c = 0; c < r.channels; ++c) mean[c] *= share;
  for (int n = 0; n < r.rows; ++n) {
    const float* const from = x.row<const float>(n);
    for_each_place(r.channels, [=](std::ptrdiff_t j, auto like) {
      const auto off = load(from + j, like) - load(mean + j, like);
      store(variance + j, decltype(like)(load(variance + j, like) + off * off));
    });
  }
  for (int c = 0; c < r.channels; ++c) variance[c] *= share;
}

/// Mean and biased variance of each channel of a batch. Images are read once: their own moments,
/// made while they are in the cache, are joined as Chan, Golub and LeVeque (1983) do.
inline void batch_moments(const operand& x, const channel_rows& r, float* mean, float* variance) {
  std::fill_n(mean, r.channels, 0.0F);
  std::fill_n(variance, r.channels, 0.0F);
  if (r.size == 1) return side_moments(x, r, mean, variance);
  const float size = static_cast<float>(r.size), share = 1 / size;
  for (int n = 0; n < r.rows; ++n) {
    const float* from = x.row<const float>(n);
    const float before = static_cast<float>(n) / static_cast<float>(n + 1);
    for (int c = 0; c < r.channels; ++c, from += r.size) {
      const float own = row_sum(from, r.size) * share;
      const float off = own - mean[c];
      mean[c] += off / static_cast<float>(n + 1);
      variance[c] += squared_distance(from, own, r.size) + off * off * size * before;
    }
  }
  for (int c = 0; c < r.channels; ++c) variance[c] /= r.count();
}

/// sums[0] = sum of d[j], sums[1] = sum of d[j] * (x[j] - mean).
inline void slope_sums(const float* d, const float* x, float mean, int size, float* sums) {
  vector all[2] = {vector(0.F), vector(0.F)}, weighted[2] = {vector(0.F), vector(0.F)};
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

/// Only images of float with a row each are lowered to the kernels below.
struct foreign_batch_norm {
  static void run(const call_context& c) {
    require_float(c, c.input(0));
    fail(c, {"expected images, one a row of the batch"});
  }
};

}  // namespace detail

template <>
struct call_kernel<batch_norm> : detail::foreign_batch_norm {};
template <>
struct call_kernel<gradient_of<batch_norm>> : detail::foreign_batch_norm {};

template <>
struct call_kernel<batch_norm_factor> {
  template <class = void>
  static void run(const call_context& c) {
    const operand x = c.input(0), factor = c.output(4);
    const int channels = factor.columns;
    const float keep = static_cast<float>(c.number(1)), epsilon = static_cast<float>(c.number(2));
    const float *moving_mean = c.input(3).row<const float>(0),
                *moving_variance = c.input(4).row<const float>(0);
    float* const mean = c.scratch();
    float* const variance = mean + padded(channels);
    // Without rows there is nothing to learn from.
    if (x && x.rows > 0) {
      detail::batch_moments(x, detail::channel_rows(x, channels), mean, variance);
      const operand next_mean = c.output(0), next_variance = c.output(1);
      for (int i = 0; i < channels; ++i) {
        if (next_mean) next_mean.row<float>(0)[i] = keep * moving_mean[i] + (1 - keep) * mean[i];
        if (next_variance)
          next_variance.row<float>(0)[i] = keep * moving_variance[i] + (1 - keep) * variance[i];
      }
    } else {
      std::copy_n(moving_mean, channels, mean);
      std::copy_n(moving_variance, channels, variance);
    }
    for (int i = 0; i < channels; ++i) variance[i] = 1 / std::sqrt(variance[i] + epsilon);
    if (const operand saved = c.output(2)) std::copy_n(mean, channels, saved.row<float>(0));
    if (const operand saved = c.output(3)) std::copy_n(variance, channels, saved.row<float>(0));
    const float* const scale = c.input(1).row<const float>(0);
    for (int i = 0; i < channels; ++i) factor.row<float>(0)[i] = scale[i] * variance[i];
  }
  template <class = void>
  static std::ptrdiff_t scratch(const call_context& c) {
    return 2 * static_cast<std::ptrdiff_t>(padded(c.output(4).columns));
  }
};

template <>
struct call_kernel<batch_norm_slopes> {
  template <class = void>
  static void run(const call_context& c) {
    const operand x = c.input(0), scale = c.input(1), d = c.input(4);
    const detail::channel_rows r(x, scale.columns);
    const float *mean = c.input(2).row<const float>(0), *inverse = c.input(3).row<const float>(0);
    float* const sum_d = c.scratch();
    float* const sum_dh = sum_d + padded(r.channels);
    std::fill_n(sum_d, r.channels, 0.0F);
    std::fill_n(sum_dh, r.channels, 0.0F);
    for (int n = 0; n < r.rows; ++n) {
      const float *from = x.row<const float>(n), *slope = d.row<const float>(n);
      if (r.size == 1) {
        for_each_place(r.channels, [=](std::ptrdiff_t j, auto like) {
          using number = decltype(like);
          const number dy = load(slope + j, like);
          store(sum_d + j, number(load(sum_d + j, like) + dy));
          store(sum_dh + j, number(load(sum_dh + j, like) +
                                   dy * (load(from + j, like) - load(mean + j, like))));
        });
        continue;
      }
      for (int i = 0; i < r.channels; ++i, from += r.size, slope += r.size) {
        float sums[2];
        detail::slope_sums(slope, from, mean[i], r.size, sums);
        sum_d[i] += sums[0];
        sum_dh[i] += sums[1];
      }
    }
    for (int i = 0; i < r.channels; ++i) sum_dh[i] *= inverse[i];
    if (const operand to = c.output(0)) std::copy_n(sum_dh, r.channels, to.row<float>(0));
    if (const operand to = c.output(1)) std::copy_n(sum_d, r.channels, to.row<float>(0));
    const operand share = c.output(2), line = c.output(3), factor = c.output(4);
    if (!factor) return;
    const bool given = c.flag(0) || c.flag(4);
    const float of_all = given || r.rows == 0 ? 0.0F : 1 / r.count();
    for (int i = 0; i < r.channels; ++i) {
      share.row<float>(0)[i] = sum_d[i] * of_all;
      line.row<float>(0)[i] = sum_dh[i] * of_all * inverse[i];
      factor.row<float>(0)[i] = scale.row<const float>(0)[i] * inverse[i];
    }
  }
  template <class = void>
  static std::ptrdiff_t scratch(const call_context& c) {
    return 2 * static_cast<std::ptrdiff_t>(padded(c.input(1).columns));
  }
};

}  // namespace lamina::engine::cpu
