// SPDX-License-Identifier: Apache-2.0
// lamina/engine/cpu/batch_norm_kernels.hpp - batch_norm.
#pragma once

#include <algorithm>
#include <cmath>

#include <lamina/engine/cpu/row_math.hpp>
#include <lamina/operators/image_norm.hpp>

namespace lamina::engine::cpu {

namespace detail {

/// The channels of a batch. Elements of a channel lie side by side in a row, or, where each channel
/// is one number, channels do (Side).
struct channel_rows {
  int rows, channels, size;  // size: elements of a channel in a row

  explicit channel_rows(const operand& x)
      : rows(x.rows), channels(x.dims[1]), size(x.dims[1] > 0 ? x.columns / x.dims[1] : 0) {}
  float count() const { return static_cast<float>(rows) * static_cast<float>(size); }

  /// Calls f(row, channel, first element in the row, elements) for every contiguous run.
  template <bool Side, class F>
  void for_each_run(F f) const {
    for (int n = 0; n < rows; ++n) {
      if constexpr (Side)
        f(n, 0, std::ptrdiff_t{0}, channels);
      else
        for (int c = 0; c < channels; ++c) f(n, c, static_cast<std::ptrdiff_t>(c) * size, size);
    }
  }
};

/// The number of the channel of element j of a run, or of a vector of elements.
template <bool Side, class Number>
LAMINA_INLINE Number of_channel(const float* numbers, int channel, std::ptrdiff_t j, Number like) {
  if constexpr (Side)
    return load(numbers + j, like);
  else
    return Number(numbers[channel]);
}

/// sums[c] += the sum of term(j, like) over a run.
template <bool Side, class Term>
LAMINA_INLINE void add_run(float* sums, int channel, int count, Term term) {
  if constexpr (Side) {
    for_each_place(count, [&](std::ptrdiff_t j, auto like) {
      store(sums + j, decltype(like)(load(sums + j, like) + term(j, like)));
    });
  } else {
    vector many(0.F);
    float few = 0;
    for_each_place(count, [&](std::ptrdiff_t j, auto like) {
      if constexpr (__is_same(decltype(like), float))
        few += term(j, like);
      else
        many += term(j, like);
    });
    sums[channel] += few + sum_of(many);
  }
}

/// Mean and 1 / sqrt(variance + epsilon) of each channel of a batch; `variance` gets the variance.
template <bool Side>
void batch_moments(const operand& x, const channel_rows& r, float epsilon, float* mean,
                   float* variance, float* inverse) {
  const float share = 1 / r.count();
  std::fill_n(mean, r.channels, 0.0F);
  std::fill_n(variance, r.channels, 0.0F);
  r.for_each_run<Side>([&](int n, int c, std::ptrdiff_t at, int count) {
    const float* const from = x.row<const float>(n) + at;
    add_run<Side>(mean, c, count,
                  [=](std::ptrdiff_t j, auto like) { return load(from + j, like); });
  });
  for (int c = 0; c < r.channels; ++c) mean[c] *= share;
  r.for_each_run<Side>([&](int n, int c, std::ptrdiff_t at, int count) {
    const float* const from = x.row<const float>(n) + at;
    add_run<Side>(variance, c, count, [=](std::ptrdiff_t j, auto like) {
      const auto off = load(from + j, like) - of_channel<Side>(mean, c, j, like);
      return decltype(like)(off * off);
    });
  });
  for (int c = 0; c < r.channels; ++c) {
    variance[c] *= share;
    inverse[c] = 1 / std::sqrt(variance[c] + epsilon);
  }
}

}  // namespace detail

template <>
struct call_kernel<batch_norm> {
  template <class = void>
  static void run(const call_context& c) {
    const detail::channel_rows r(c.input(0));
    r.size == 1 ? run_as<true>(c, r) : run_as<false>(c, r);
  }
  template <class = void>
  static std::ptrdiff_t scratch(const call_context& c) {
    return 3 * static_cast<std::ptrdiff_t>(padded(c.input(0).dims[1]));
  }

 private:
  template <bool Side>
  static void run_as(const call_context& c, const detail::channel_rows& r) {
    const operand x = c.input(0), scale = c.input(1), bias = c.input(2), y = c.output(0);
    require_float(c, x);
    const float keep = static_cast<float>(c.number(1)), epsilon = static_cast<float>(c.number(2));
    float* const mean = c.scratch();
    float* const variance = mean + padded(r.channels);
    float* const inverse = variance + padded(r.channels);
    const float *moving_mean = c.input(3).row<const float>(0),
                *moving_variance = c.input(4).row<const float>(0);
    // Without rows there is nothing to learn from.
    if (!c.flag(0) && !c.flag(4) && r.rows > 0) {
      detail::batch_moments<Side>(x, r, epsilon, mean, variance, inverse);
      const operand next_mean = c.output(1), next_variance = c.output(2);
      for (int i = 0; i < r.channels; ++i) {
        if (next_mean) next_mean.row<float>(0)[i] = keep * moving_mean[i] + (1 - keep) * mean[i];
        if (next_variance)
          next_variance.row<float>(0)[i] = keep * moving_variance[i] + (1 - keep) * variance[i];
      }
    } else {
      for (int i = 0; i < r.channels; ++i) {
        mean[i] = moving_mean[i];
        inverse[i] = 1 / std::sqrt(moving_variance[i] + epsilon);
      }
    }
    if (const operand saved = c.output(3)) std::copy_n(mean, r.channels, saved.row<float>(0));
    if (const operand saved = c.output(4)) std::copy_n(inverse, r.channels, saved.row<float>(0));
    if (!y) return;
    const float *factor = scale.row<const float>(0), *shift = bias.row<const float>(0);
    for (int i = 0; i < r.channels; ++i) inverse[i] *= factor[i];
    r.for_each_run<Side>([&](int n, int channel, std::ptrdiff_t at, int count) {
      const float* const from = x.row<const float>(n) + at;
      float* const to = y.row<float>(n) + at;
      for_each_place(count, [=](std::ptrdiff_t j, auto like) {
        using number = decltype(like);
        const number off = load(from + j, like) - detail::of_channel<Side>(mean, channel, j, like);
        store(to + j, number(off * detail::of_channel<Side>(inverse, channel, j, like) +
                             detail::of_channel<Side>(shift, channel, j, like)));
      });
    });
  }
};

template <>
struct call_kernel<gradient_of<batch_norm>> {
  template <class = void>
  static void run(const call_context& c) {
    const detail::channel_rows r(c.input(0));
    r.size == 1 ? run_as<true>(c, r) : run_as<false>(c, r);
  }
  template <class = void>
  static std::ptrdiff_t scratch(const call_context& c) {
    return 3 * static_cast<std::ptrdiff_t>(padded(c.input(0).dims[1]));
  }

 private:
  /// With h = (x - mean) * inverse: dScale = sum dy * h, dBias = sum dy, dx = scale * inverse * (dy
  /// - dBias / count - h * dScale / count), without the sums where mean and variance are given.
  template <bool Side>
  static void run_as(const call_context& c, const detail::channel_rows& r) {
    const operand x = c.input(0), scale = c.input(1), d = c.input(4);
    const operand dx = c.output(0), dscale = c.output(1), dbias = c.output(2);
    const float *mean = c.input(2).row<const float>(0), *inverse = c.input(3).row<const float>(0);
    float* const sum_d = c.scratch();
    float* const sum_dh = sum_d + padded(r.channels);
    float* const factor = sum_dh + padded(r.channels);
    std::fill_n(sum_d, r.channels, 0.0F);
    std::fill_n(sum_dh, r.channels, 0.0F);
    r.for_each_run<Side>([&](int n, int channel, std::ptrdiff_t at, int count) {
      const float *const from = x.row<const float>(n) + at, *const slope =
                                                                d.row<const float>(n) + at;
      detail::add_run<Side>(sum_d, channel, count,
                            [=](std::ptrdiff_t j, auto like) { return load(slope + j, like); });
      detail::add_run<Side>(sum_dh, channel, count, [=](std::ptrdiff_t j, auto like) {
        const auto off = load(from + j, like) - detail::of_channel<Side>(mean, channel, j, like);
        return decltype(like)(load(slope + j, like) * off *
                              detail::of_channel<Side>(inverse, channel, j, like));
      });
    });
    if (dscale) std::copy_n(sum_dh, r.channels, dscale.row<float>(0));
    if (dbias) std::copy_n(sum_d, r.channels, dbias.row<float>(0));
    if (!dx) return;
    const bool given = c.flag(0) || c.flag(4);
    const float share = given || r.rows == 0 ? 0.0F : 1 / r.count();
    for (int i = 0; i < r.channels; ++i) {
      factor[i] = scale.row<const float>(0)[i] * inverse[i];
      sum_d[i] *= share;
      sum_dh[i] *= share * inverse[i];
    }
    r.for_each_run<Side>([&](int n, int channel, std::ptrdiff_t at, int count) {
      const float *const from = x.row<const float>(n) + at, *const slope =
                                                                d.row<const float>(n) + at;
      float* const to = dx.row<float>(n) + at;
      for_each_place(count, [=](std::ptrdiff_t j, auto like) {
        using number = decltype(like);
        const number off = load(from + j, like) - detail::of_channel<Side>(mean, channel, j, like);
        const number rest = load(slope + j, like) -
                            detail::of_channel<Side>(sum_d, channel, j, like) -
                            off * detail::of_channel<Side>(sum_dh, channel, j, like);
        store(to + j, number(rest * detail::of_channel<Side>(factor, channel, j, like)));
      });
    });
  }
};

}  // namespace lamina::engine::cpu
