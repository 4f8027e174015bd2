// SPDX-License-Identifier: Apache-2.0
// lamina/operators/norm/batch_norm/cpu.hpp - the statistics of batch_norm and the sums of its
// gradient; fused groups compute the elements (operators/conv/lowering.hpp).
#pragma once

#include <lamina/core/config.hpp>

#include <algorithm>
#include <cmath>

#include <lamina/engine/common/real_numbers.hpp>
#include <lamina/engine/cpu/vector/long_sums.hpp>
#include <lamina/operators/norm/batch_norm/cpu_batch_sums.hpp>
#include <lamina/operators/norm/batch_norm/cpu_channels.hpp>
#include <lamina/plan/image_operators.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace engine::cpu {

namespace detail {

/// Scale@GRAD of a channel if a product of a gradient and a difference from the mean overflows.
template <class Real>
LAMINA_COLD Real wide_grad_of(const operand& x, const operand& d, const channel_rows& r,
                              int channel, Real mean, Real inverse) {
  wide_number<Real> sum = 0;
  const std::ptrdiff_t at = static_cast<std::ptrdiff_t>(channel) * r.size;
  for (int row = 0; row < r.rows; ++row)
    sum +=
        wide_grad(d.row<const Real>(row) + at, x.row<const Real>(row) + at, mean, inverse, r.size);
  return static_cast<Real>(sum);
}

/// sums[0] = sum of d[j], sums[1] = sum of d[j] * (x[j] - mean).
template <class Real>
inline void grad_sums(const Real* d, const Real* x, Real mean, int size, Real* sums) {
  using vector = vector_in<Real>;
  constexpr int lanes = lanes_in<Real>;
  vector all[2] = {vector(Real(0)), vector(Real(0))},
         weighted[2] = {vector(Real(0)), vector(Real(0))};
  const vector centre(mean);
  int j = 0;
  const auto add = [&](int at, int chain) __attribute__((always_inline)) {
    const vector grad = vector::load_unaligned(d + at);
    all[chain] += grad;
    weighted[chain] =
        fused_multiply_add(grad, vector::load_unaligned(x + at) - centre, weighted[chain]);
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

/// Throws for unsupported inputs: the kernels below only accept images of the program's real type,
/// one image per row.
struct foreign_batch_norm {
  template <class Real = float>
  static void run(const call_context& c) {
    require_real<Real>(c, c.input(0));
    fail(c, {"expected images, one per row of the batch"});
  }
};

}  // namespace detail

template <>
struct call_kernel<operators::batch_norm> : detail::foreign_batch_norm {};
template <>
struct call_kernel<gradient_of<operators::batch_norm>> : detail::foreign_batch_norm {};

template <>
struct call_kernel<operators::batch_norm_factor> {
  template <class Real = float>
  LAMINA_KERNEL static void run(const call_context& c);
  template <class Real = float>
  LAMINA_KERNEL static std::ptrdiff_t scratch(const call_context& c);
};

template <>
struct call_kernel<operators::batch_norm_grads> {
  template <class Real = float>
  LAMINA_KERNEL static void run(const call_context& c);
  template <class Real = float>
  LAMINA_KERNEL static std::ptrdiff_t scratch(const call_context& c);
};

#if LAMINA_DEFINES

template <class Real>
void call_kernel<operators::batch_norm_factor>::run(const call_context& c) {
  const operand x = c.input(0), factor = c.output(4);
  const int channels = factor.columns;
  const Real keep = static_cast<Real>(c.number(1)), epsilon = static_cast<Real>(c.number(2));
  const Real *moving_mean = c.input(3).row<const Real>(0),
             *moving_variance = c.input(4).row<const Real>(0);
  Real* const mean = numbers_at<Real>(c.scratch());
  Real* const variance = mean + padded(channels);
  Real* const inverse = factor.row<Real>(0);
  double count = 0;  // number of elements of a channel in the batch
  if (x) {
    const detail::channel_rows r(x, channels);
    if (const batch_sums* const all_parts = c.run().all_parts) {
      count = detail::all_reduce_moments<Real>(*all_parts, x, r, epsilon, mean, variance, inverse);
    } else if (count = r.count<double>(); count > 1) {
      detail::batch_moments(x, r, mean, variance);
      for (int i = 0; i < channels; ++i)
        inverse[i] = detail::inverse_of_channel(x, r, i, epsilon, mean[i], variance[i]);
    }
  }
  // A single element passes unchanged, as in Fluid: (x - Bias) * 1 + Bias.
  if (count == 1) {
    const Real* const bias = c.input(2).row<const Real>(0);
    std::fill_n(factor.row<Real>(0), channels, Real(1));
    if (const operand saved = c.output(2)) std::copy_n(bias, channels, saved.row<Real>(0));
    if (const operand saved = c.output(3)) std::fill_n(saved.row<Real>(0), channels, Real(1));
    return;
  }
  // A batch without rows leaves the statistics unchanged.
  if (count > 0) {
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
LAMINA_INSTANCE(void call_kernel<operators::batch_norm_factor>::run<float>(const call_context&))
LAMINA_INSTANCE(void call_kernel<operators::batch_norm_factor>::run<double>(const call_context&))

template <class Real>
std::ptrdiff_t call_kernel<operators::batch_norm_factor>::scratch(const call_context& c) {
  return in_floats<Real>(2 * static_cast<std::ptrdiff_t>(padded(c.output(4).columns)));
}
LAMINA_INSTANCE(
    std::ptrdiff_t call_kernel<operators::batch_norm_factor>::scratch<float>(const call_context&))
LAMINA_INSTANCE(
    std::ptrdiff_t call_kernel<operators::batch_norm_factor>::scratch<double>(const call_context&))

template <class Real>
void call_kernel<operators::batch_norm_grads>::run(const call_context& c) {
  const operand x = c.input(0), scale = c.input(1), d = c.input(4);
  const detail::channel_rows r(x, scale.columns);
  const Real *mean = c.input(2).row<const Real>(0), *inverse = c.input(3).row<const Real>(0);
  Real* const sum_d = numbers_at<Real>(c.scratch());
  Real* const sum_dh = sum_d + padded(r.channels);
  const bool given = c.flag(0) || c.flag(4);
  const batch_sums* const all_parts = given ? nullptr : c.run().all_parts;
  bool passes = !given && all_parts == nullptr && detail::has_one_value(r);
  std::fill_n(sum_d, r.channels, Real(0));
  std::fill_n(sum_dh, r.channels, Real(0));
  for (int first = 0; first < r.channels && !passes; first += detail::channels_together) {
    const int n = (std::min)(detail::channels_together, r.channels - first);
    double all[detail::channels_together] = {}, weighted[detail::channels_together] = {};
    for (int row = 0; row < r.rows; ++row) {
      const std::ptrdiff_t at = static_cast<std::ptrdiff_t>(first) * r.size;
      const Real *from = x.row<const Real>(row) + at, *grad = d.row<const Real>(row) + at;
      if (r.size == 1) {
        for (int i = 0; i < n; ++i) {
          all[i] += static_cast<double>(grad[i]);
          weighted[i] += static_cast<double>(grad[i] * (from[i] - mean[first + i]));
        }
        continue;
      }
      for (int i = 0; i < n; ++i, from += r.size, grad += r.size) {
        Real sums[2];
        detail::grad_sums(grad, from, mean[first + i], r.size, sums);
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
    if (!is_finite(sum_dh[i])) sum_dh[i] = detail::wide_grad_of(x, d, r, i, mean[i], inverse[i]);
  }
  Real of_all = given || r.rows == 0 ? Real(0) : 1 / r.count<Real>();
  if (all_parts != nullptr) {
    const double count = detail::all_reduce_grads(*all_parts, r, sum_d, sum_dh);
    passes = count == 1;
    of_all = count > 0 ? static_cast<Real>(1 / count) : Real(0);
    if (passes) std::fill_n(sum_d, r.channels, Real(0)), std::fill_n(sum_dh, r.channels, Real(0));
  }
  if (const operand to = c.output(0)) std::copy_n(sum_dh, r.channels, to.row<Real>(0));
  if (const operand to = c.output(1)) std::copy_n(sum_d, r.channels, to.row<Real>(0));
  if (all_parts != nullptr && !passes) detail::take_grads(*all_parts, r, sum_d, sum_dh);
  const operand mean_grad = c.output(2), line = c.output(3), factor = c.output(4);
  if (!factor) return;
  for (int i = 0; i < r.channels; ++i) {
    if (mean_grad) mean_grad.row<Real>(0)[i] = sum_d[i] * of_all;
    if (line) line.row<Real>(0)[i] = sum_dh[i] * of_all * inverse[i];
    factor.row<Real>(0)[i] = passes ? Real(1) : scale.row<const Real>(0)[i] * inverse[i];
  }
}
LAMINA_INSTANCE(void call_kernel<operators::batch_norm_grads>::run<float>(const call_context&))
LAMINA_INSTANCE(void call_kernel<operators::batch_norm_grads>::run<double>(const call_context&))

template <class Real>
std::ptrdiff_t call_kernel<operators::batch_norm_grads>::scratch(const call_context& c) {
  return in_floats<Real>(2 * static_cast<std::ptrdiff_t>(padded(c.input(1).columns)));
}
LAMINA_INSTANCE(
    std::ptrdiff_t call_kernel<operators::batch_norm_grads>::scratch<float>(const call_context&))
LAMINA_INSTANCE(
    std::ptrdiff_t call_kernel<operators::batch_norm_grads>::scratch<double>(const call_context&))

#endif  // LAMINA_DEFINES

}}}  // namespace lamina::engine::cpu
