// SPDX-License-Identifier: Apache-2.0
// lamina/operators/norm/layer_norm/cpu.hpp - normalisation of the elements of each row (layer_norm)
// or of the channels of images (group_norm, instance_norm).
#pragma once

#include <lamina/core/config.hpp>

#include <lamina/engine/cpu/schedule/call_context.hpp>
#include <lamina/operators/norm/layer_norm/definition.hpp>
#if LAMINA_DEFINES
#include <lamina/engine/cpu/vector/long_sums.hpp>
#include <lamina/engine/cpu/vector/row_math.hpp>
#include <lamina/operators/norm/layer_norm/common.hpp>
#include <lamina/operators/norm/norm/cpu.hpp>
#endif

namespace lamina { inline namespace LAMINA_ABI { namespace engine::cpu {

template <>
struct call_kernel<operators::layer_norm> {
  template <class Real = float>
  LAMINA_KERNEL static void run(const call_context& c);
};

template <>
struct call_kernel<gradient_of<operators::layer_norm>> {
  template <class Real = float>
  LAMINA_KERNEL static void run(const call_context& c);
  template <class Real = float>
  LAMINA_KERNEL static std::ptrdiff_t scratch(const call_context& c);
};

#if LAMINA_DEFINES

template <class Real>
void call_kernel<operators::layer_norm>::run(const call_context& c) {
  const operand in = c.input(0), scale = c.input(1), bias = c.input(2);
  const operand out = c.output(0), means = c.output(1), variances = c.output(2);
  require_real<Real>(c, in);
  const normalised_parts parts(c, in);
  const int n = parts.n;
  const Real epsilon = static_cast<Real>(c.number(0));
  const Real* factor = scale ? scale.row<const Real>(0) : nullptr;
  const Real* shift = bias ? bias.row<const Real>(0) : nullptr;
  for (int r = 0; r < parts.rows; ++r)
    for (int o = 0; o < parts.outer; ++o) {
      const Real* x = in.row<const Real>(r) + o * n;
      const moments<Real> of_part = row_moments(x, n, epsilon);
      const Real mean = of_part.mean, inverse = of_part.inverse;
      if (means) detail::part_number<Real>(means, parts.outer, r, o) = mean;
      if (variances) detail::part_number<Real>(variances, parts.outer, r, o) = of_part.variance;
      if (!out) continue;
      Real* y = out.row<Real>(r) + o * n;
      for_each_position<Real>(n, [&](std::ptrdiff_t j, auto like) {
        using number = decltype(like);
        number v = (load(x + j, like) - number(mean)) * number(inverse);
        if (factor != nullptr) v *= load(factor + j, like);
        if (shift != nullptr) v += load(shift + j, like);
        store(y + j, v);
      });
    }
}
LAMINA_INSTANCE(void call_kernel<operators::layer_norm>::run<float>(const call_context&))
LAMINA_INSTANCE(void call_kernel<operators::layer_norm>::run<double>(const call_context&))

template <class Real>
void call_kernel<gradient_of<operators::layer_norm>>::run(const call_context& c) {
  const operand in = c.input(0), scale = c.input(1), means = c.input(2), variances = c.input(3),
                grad = c.input(4);
  const operand dx = c.output(0), dscale = c.output(1), dbias = c.output(2);
  const normalised_parts parts(c, in);
  const int n = parts.n;
  const Real epsilon = static_cast<Real>(c.number(0));
  const Real* factor = scale ? scale.row<const Real>(0) : nullptr;
  if (dscale) clear(dscale);
  if (dbias) clear(dbias);
  Real* const ds = dscale ? dscale.row<Real>(0) : nullptr;
  Real* const db = dbias ? dbias.row<Real>(0) : nullptr;
  detail::blocked_sums<Real> of_scale(ds, n, c.scratch());
  detail::blocked_sums<Real> of_bias(db, n, c.scratch() + in_floats<double>(padded(n)));
  for (int r = 0; r < parts.rows; ++r)
    for (int o = 0; o < parts.outer; ++o) {
      of_scale.begin_row();
      of_bias.begin_row();
      const Real* x = in.row<const Real>(r) + o * n;
      const Real* d = grad.row<const Real>(r) + o * n;
      const Real mean = detail::part_number<Real>(means, parts.outer, r, o);
      const Real inverse = inverse_deviation(
          x, n, mean, detail::part_number<Real>(variances, parts.outer, r, o), epsilon);
      const auto h = [&](std::ptrdiff_t j, auto like) {
        using number = decltype(like);
        return number((load(x + j, like) - number(mean)) * number(inverse));
      };
      const auto g = [&](std::ptrdiff_t j, auto like) {
        const auto v = load(d + j, like);
        return factor != nullptr ? decltype(v)(v * load(factor + j, like)) : v;
      };
      vector_in<Real> sums(Real(0)), products(Real(0));
      Real sum_g = 0, sum_gh = 0;
      for_each_position<Real>(n, [&](std::ptrdiff_t j, auto like) {
        const auto hj = h(j, like);
        const auto gj = g(j, like);
        if constexpr (__is_same(decltype(like), Real)) {
          sum_g += gj;
          sum_gh += gj * hj;
        } else {
          sums += gj;
          products += gj * hj;
        }
        if (ds != nullptr)
          store(ds + j, decltype(like)(load(ds + j, like) + load(d + j, like) * hj));
        if (db != nullptr) store(db + j, decltype(like)(load(db + j, like) + load(d + j, like)));
      });
      if (!dx) continue;
      const Real mean_g = (sum_g + sum_of(sums)) / static_cast<Real>(n);
      const Real mean_gh = (sum_gh + sum_of(products)) / static_cast<Real>(n);
      Real* to = dx.row<Real>(r) + o * n;
      for_each_position<Real>(n, [&](std::ptrdiff_t j, auto like) {
        using number = decltype(like);
        store(to + j, number((g(j, like) - number(mean_g) - h(j, like) * number(mean_gh)) *
                             number(inverse)));
      });
    }
  of_scale.finish();
  of_bias.finish();
}
LAMINA_INSTANCE(
    void call_kernel<gradient_of<operators::layer_norm>>::run<float>(const call_context&))
LAMINA_INSTANCE(
    void call_kernel<gradient_of<operators::layer_norm>>::run<double>(const call_context&))

template <class Real>
std::ptrdiff_t call_kernel<gradient_of<operators::layer_norm>>::scratch(const call_context& c) {
  return 2 * in_floats<double>(padded(normalised_parts(c, c.input(0)).n));
}
LAMINA_INSTANCE(std::ptrdiff_t call_kernel<gradient_of<operators::layer_norm>>::scratch<float>(
    const call_context&))
LAMINA_INSTANCE(std::ptrdiff_t call_kernel<gradient_of<operators::layer_norm>>::scratch<double>(
    const call_context&))

#endif  // LAMINA_DEFINES

namespace detail {

/// The kernel of group_norm. With Instance it is instance_norm, in which each channel is a group
/// and the saved statistic is 1 / deviation instead of the variance.
template <bool Instance>
struct group_norm_kernel {
  struct groups {
    int count, channels, size;  // channels per group, elements per channel

    groups(const call_context& c, const operand& x) : count(Instance ? x.dims[1] : c.integer(1)) {
      if (count < 1 || x.dims[1] % count != 0)
        fail(c,
             {"expected a number of groups that divides ", x.dims[1], " channels, found ", count});
      channels = x.dims[1] / count;
      size = x.columns / x.dims[1];
    }
    int elements() const { return channels * size; }
  };
  template <class Real>
  static Real inverse_of(const Real* x, int n, Real mean, Real saved, Real epsilon) {
    return Instance ? saved : inverse_deviation(x, n, mean, saved, epsilon);
  }

  template <class Real = float>
  static void run(const call_context& c) {
    const operand x = c.input(0), scale = c.input(1), bias = c.input(2);
    const operand y = c.output(0), means = c.output(1), variances = c.output(2);
    require_real<Real>(c, x);
    const groups g(c, x);
    const Real epsilon = static_cast<Real>(c.number(0));
    for (int r = 0; r < x.rows; ++r)
      for (int i = 0; i < g.count; ++i) {
        const std::ptrdiff_t at = static_cast<std::ptrdiff_t>(i) * g.elements();
        const Real* const from = x.row<const Real>(r) + at;
        const moments<Real> of_group = row_moments(from, g.elements(), epsilon);
        const Real mean = of_group.mean, inverse = of_group.inverse;
        if (means) means.row<Real>(r)[i] = mean;
        if (variances) variances.row<Real>(r)[i] = Instance ? inverse : of_group.variance;
        if (!y) continue;
        for (int k = 0; k < g.channels; ++k) {
          const int channel = i * g.channels + k;
          const Real factor = (scale ? scale.row<const Real>(0)[channel] : 1) * inverse;
          const Real shift = bias ? bias.row<const Real>(0)[channel] : 0;
          const Real* const source = from + static_cast<std::ptrdiff_t>(k) * g.size;
          Real* const to = y.row<Real>(r) + at + static_cast<std::ptrdiff_t>(k) * g.size;
          for_each_position<Real>(g.size, [=](std::ptrdiff_t j, auto like) {
            using number = decltype(like);
            store(to + j,
                  number((load(source + j, like) - number(mean)) * number(factor) + number(shift)));
          });
        }
      }
  }

  /// The gradient of each group. With h = (x - mean) * inverse and g = dy * scale: dx = (g -
  /// mean(g) - h * mean(g * h)) * inverse.
  template <class Real>
  static void run_gradient(const call_context& c) {
    const operand x = c.input(0), scale = c.input(1), means = c.input(2), saved = c.input(3),
                  d = c.input(4);
    const operand dx = c.output(0), dscale = c.output(1), dbias = c.output(2);
    const groups g(c, x);
    const Real epsilon = static_cast<Real>(c.number(0)), n = static_cast<Real>(g.elements());
    if (dscale) clear(dscale);
    if (dbias) clear(dbias);
    const int channels = x.dims[1];
    blocked_sums<Real> of_scale(dscale ? dscale.row<Real>(0) : nullptr, channels, c.scratch());
    blocked_sums<Real> of_bias(dbias ? dbias.row<Real>(0) : nullptr, channels,
                               c.scratch() + in_floats<double>(padded(channels)));
    for (int r = 0; r < x.rows; ++r) {
      of_scale.begin_row();
      of_bias.begin_row();
      for (int i = 0; i < g.count; ++i) {
        const Real mean = means.row<const Real>(r)[i];
        const Real inverse =
            inverse_of<Real>(x.row<const Real>(r) + static_cast<std::ptrdiff_t>(i) * g.elements(),
                             g.elements(), mean, saved.row<const Real>(r)[i], epsilon);
        Real mean_g = 0, mean_gh = 0;
        for (int k = 0; k < g.channels; ++k) {
          const int channel = i * g.channels + k;
          const std::ptrdiff_t at = static_cast<std::ptrdiff_t>(channel) * g.size;
          const Real *const from = x.row<const Real>(r) + at, *const grad =
                                                                  d.row<const Real>(r) + at;
          const Real sum_d = row_sum(grad, g.size);
          const Real sum_dh = normalised_dot(grad, from, mean, inverse, g.size);
          if (dscale) dscale.row<Real>(0)[channel] += sum_dh;
          if (dbias) dbias.row<Real>(0)[channel] += sum_d;
          const Real factor = scale ? scale.row<const Real>(0)[channel] : 1;
          mean_g += factor * sum_d / n;
          mean_gh += factor * sum_dh / n;
        }
        if (!dx) continue;
        for (int k = 0; k < g.channels; ++k) {
          const int channel = i * g.channels + k;
          const std::ptrdiff_t at = static_cast<std::ptrdiff_t>(channel) * g.size;
          const Real *const from = x.row<const Real>(r) + at, *const grad =
                                                                  d.row<const Real>(r) + at;
          Real* const to = dx.row<Real>(r) + at;
          const Real factor = (scale ? scale.row<const Real>(0)[channel] : 1) * inverse;
          const Real shift = mean_g * inverse, tilt = mean_gh * inverse;
          for_each_position<Real>(g.size, [=](std::ptrdiff_t j, auto like) {
            using number = decltype(like);
            store(to + j,
                  number(load(grad + j, like) * number(factor) - number(shift) -
                         (load(from + j, like) - number(mean)) * number(inverse) * number(tilt)));
          });
        }
      }
    }
    of_scale.finish();
    of_bias.finish();
  }
  /// Scratch memory for the gradients of Scale and Bias, which are summed in double.
  static std::ptrdiff_t gradient_scratch(const call_context& c) {
    return 2 * in_floats<double>(padded(c.input(0).dims[1]));
  }
};

}  // namespace detail

template <>
struct call_kernel<operators::group_norm> : detail::group_norm_kernel<false> {};
template <>
struct call_kernel<operators::instance_norm> : detail::group_norm_kernel<true> {};
template <>
struct call_kernel<gradient_of<operators::group_norm>> {
  template <class Real = float>
  LAMINA_KERNEL static void run(const call_context& c);
  template <class Real = float>
  LAMINA_KERNEL static std::ptrdiff_t scratch(const call_context& c);
};
template <>
struct call_kernel<gradient_of<operators::instance_norm>> {
  template <class Real = float>
  LAMINA_KERNEL static void run(const call_context& c);
  template <class Real = float>
  LAMINA_KERNEL static std::ptrdiff_t scratch(const call_context& c);
};

#if LAMINA_DEFINES

template <class Real>
void call_kernel<gradient_of<operators::group_norm>>::run(const call_context& c) {
  detail::group_norm_kernel<false>::run_gradient<Real>(c);
}
LAMINA_INSTANCE(
    void call_kernel<gradient_of<operators::group_norm>>::run<float>(const call_context&))
LAMINA_INSTANCE(
    void call_kernel<gradient_of<operators::group_norm>>::run<double>(const call_context&))

template <class Real>
std::ptrdiff_t call_kernel<gradient_of<operators::group_norm>>::scratch(const call_context& c) {
  return detail::group_norm_kernel<false>::gradient_scratch(c);
}
LAMINA_INSTANCE(std::ptrdiff_t call_kernel<gradient_of<operators::group_norm>>::scratch<float>(
    const call_context&))
LAMINA_INSTANCE(std::ptrdiff_t call_kernel<gradient_of<operators::group_norm>>::scratch<double>(
    const call_context&))

template <class Real>
void call_kernel<gradient_of<operators::instance_norm>>::run(const call_context& c) {
  detail::group_norm_kernel<true>::run_gradient<Real>(c);
}
LAMINA_INSTANCE(
    void call_kernel<gradient_of<operators::instance_norm>>::run<float>(const call_context&))
LAMINA_INSTANCE(
    void call_kernel<gradient_of<operators::instance_norm>>::run<double>(const call_context&))

template <class Real>
std::ptrdiff_t call_kernel<gradient_of<operators::instance_norm>>::scratch(const call_context& c) {
  return detail::group_norm_kernel<true>::gradient_scratch(c);
}
LAMINA_INSTANCE(std::ptrdiff_t call_kernel<gradient_of<operators::instance_norm>>::scratch<float>(
    const call_context&))
LAMINA_INSTANCE(std::ptrdiff_t call_kernel<gradient_of<operators::instance_norm>>::scratch<double>(
    const call_context&))

#endif  // LAMINA_DEFINES

}}}  // namespace lamina::engine::cpu
