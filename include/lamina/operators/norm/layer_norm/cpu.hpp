// SPDX-License-Identifier: Apache-2.0
// lamina/operators/norm/layer_norm/cpu.hpp - normalisation of the elements of each row.
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

}}}  // namespace lamina::engine::cpu
