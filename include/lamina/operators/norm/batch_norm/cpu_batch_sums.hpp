// SPDX-License-Identifier: Apache-2.0
// lamina/operators/norm/batch_norm/cpu_batch_sums.hpp - the statistics of batch_norm over all parts
// of a mini-batch, which several threads and processes compute (train_options::sync_batch_norm).
//
// In the forward pass, each part contributes the numbers [elements per channel, mean of each
// channel, sum of squared distances from this mean]. In the backward pass it contributes [elements
// per channel, sum of the gradients, sum of gradient * x_hat], where a gradient is the gradient of
// the cost of the whole mini-batch, up to a factor that all parts share.
#pragma once

#include <lamina/core/config.hpp>

#include <lamina/engine/cpu/schedule/call_context.hpp>
#include <lamina/operators/norm/batch_norm/definition.hpp>
#if LAMINA_DEFINES
#include <algorithm>
#include <cmath>
#include <cstddef>

#include <lamina/core/messages/error.hpp>
#include <lamina/core/messages/text.hpp>
#include <lamina/engine/common/operator_call.hpp>
#include <lamina/engine/cpu/schedule/batch_sums.hpp>
#include <lamina/engine/cpu/vector/row_math.hpp>
#include <lamina/operators/norm/batch_norm/cpu_channels.hpp>
#include <lamina/plan/image_operators.hpp>
#endif

namespace lamina { inline namespace LAMINA_ABI { namespace engine::cpu {

#if LAMINA_DEFINES

namespace detail {

/// The number of values that a batch_norm with this number of channels exchanges by batch_sums.
constexpr std::size_t batch_sum_count(int channels) {
  return 1 + 2 * static_cast<std::size_t>(channels);
}

/// Combines the moments of two parts by the formula of Chan, Golub and LeVeque (1983).
LAMINA_API_COLD void add_moments(double* to, const double* more, std::size_t count);
LAMINA_API_COLD void add_grads(double* to, const double* more, std::size_t count);

/// Mean and squared distances of a channel whose variance overflows Real.
template <class Real>
LAMINA_COLD void wide_channel(const operand& x, const channel_rows& r, int channel, double& mean,
                              double& squares) {
  using wide = wide_number<Real>;
  const auto each = [&](const auto& f) {
    for (int row = 0; row < r.rows; ++row)
      for (int j = 0; j < r.size; ++j)
        f(static_cast<wide>(
            x.row<const Real>(row)[static_cast<std::ptrdiff_t>(channel) * r.size + j]));
  };
  wide sum = 0, off = 0;
  each([&](wide v) { sum += v; });
  const wide centre = sum / static_cast<wide>(r.count<double>());
  each([&](wide v) { off += (v - centre) * (v - centre); });
  mean = static_cast<double>(centre);
  squares = static_cast<double>(off);
}

/// Mean, biased variance and 1 / sqrt(variance + epsilon) of each channel over all parts. Returns
/// the number of elements per channel; without elements the arrays are not written.
template <class Real>
LAMINA_COLD double all_reduce_moments(const batch_sums& all_parts, const operand& x,
                                      const channel_rows& r, Real epsilon, Real* mean,
                                      Real* variance, Real* inverse) {
  const std::size_t count = batch_sum_count(r.channels);
  double* const sums = all_parts.numbers;
  double *const means = sums + 1, *const squares = means + r.channels;
  std::fill_n(sums, count, 0.0);
  if (r.rows > 0) {
    const double own = sums[0] = r.count<double>();
    // The means stay in double: if the elements are far from 0, rounding the means of two parts to
    // Real could change their difference by more than the spread of the elements.
    each_moments<Real>(x, r, [&](int c, double centre, double distances) {
      means[c] = centre;
      squares[c] = distances;
      if (!is_finite(static_cast<Real>(distances / own)))
        wide_channel<Real>(x, r, c, means[c], squares[c]);
    });
  }
  all_parts.all_reduce(count, &add_moments);
  for (int c = 0; c < r.channels && sums[0] > 0; ++c) {
    const double wide = squares[c] / sums[0];
    mean[c] = static_cast<Real>(means[c]);
    variance[c] = static_cast<Real>(wide);
    inverse[c] = is_finite(variance[c])
                     ? inverse_deviation(variance[c], epsilon)
                     : static_cast<Real>(1 / std::sqrt(wide + static_cast<double>(epsilon)));
  }
  return sums[0];
}

/// Adds up the sums of the gradient over all parts. take_grads() then reads the result. Returns
/// the number of elements per channel. Throws lamina::error if this part has elements but no weight
/// in the cost: its gradient would be lost.
template <class Real>
LAMINA_COLD double all_reduce_grads(const batch_sums& all_parts, const channel_rows& r,
                                    const Real* sum_d, const Real* sum_dh) {
  double* const sums = all_parts.numbers;
  std::fill_n(sums, batch_sum_count(r.channels), 0.0);
  if (r.rows > 0) {
    if (!(all_parts.weight > 0))
      LAMINA_THROW error(
          "lamina: train: sync_batch_norm: expected rows of the cost in each part of a mini-batch, "
          "found a part that has none: make the mini-batch larger, or take fewer threads");
    sums[0] = r.count<double>();
    for (int c = 0; c < r.channels; ++c) {
      sums[1 + c] = all_parts.weight * static_cast<double>(sum_d[c]);
      sums[1 + r.channels + c] = all_parts.weight * static_cast<double>(sum_dh[c]);
    }
  }
  all_parts.all_reduce(batch_sum_count(r.channels), &add_grads);
  return sums[0];
}
/// Reads the sums over all parts and divides them by the weight of this part, so that they are sums
/// of gradients of this part's cost.
template <class Real>
LAMINA_COLD void take_grads(const batch_sums& all_parts, const channel_rows& r, Real* sum_d,
                            Real* sum_dh) {
  for (int c = 0; c < r.channels && all_parts.weight > 0; ++c) {
    sum_d[c] = static_cast<Real>(all_parts.numbers[1 + c] / all_parts.weight);
    sum_dh[c] = static_cast<Real>(all_parts.numbers[1 + r.channels + c] / all_parts.weight);
  }
}

#if LAMINA_DEFINES

void add_moments(double* to, const double* more, std::size_t count) {
  if (more[0] == 0) return;
  if (to[0] == 0) {
    std::copy_n(more, count, to);
    return;
  }
  const std::size_t channels = (count - 1) / 2;
  const double all = to[0] + more[0], fraction = more[0] / all;
  for (std::size_t c = 1; c <= channels; ++c) {
    const double off = more[c] - to[c];
    to[c] += off * fraction;
    to[channels + c] += more[channels + c] + off * off * (fraction * to[0]);
  }
  to[0] = all;
}

void add_grads(double* to, const double* more, std::size_t count) {
  for (std::size_t k = 0; k < count; ++k) to[k] += more[k];
}

#endif  // LAMINA_DEFINES

}  // namespace detail

#endif  // LAMINA_DEFINES

/// The number of values that a group of a schedule exchanges with the other parts of a mini-batch;
/// 0 for most groups.
LAMINA_API_COLD std::size_t batch_sum_count_of(const program_view& program, const group_info& group,
                                               const argument_info* info);

#if LAMINA_DEFINES

std::size_t batch_sum_count_of(const program_view& program, const group_info& group,
                               const argument_info* info) {
  const bool forward = group.schema == schema_of<operators::batch_norm_factor>().bare;
  if (!forward && group.schema != schema_of<operators::batch_norm_grads>().bare) return 0;
  const operator_call call(program, nullptr, info, group.schema, group.op, nullptr);
  const bool given = call.flag(0) || call.flag(4);  // moving statistics
  // Argument 9 of the forward operator is the factors, argument 1 of its gradient is Scale.
  return given ? 0 : detail::batch_sum_count(info[forward ? 9 : 1].columns);
}

#endif  // LAMINA_DEFINES

}}}  // namespace lamina::engine::cpu
