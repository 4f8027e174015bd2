// SPDX-License-Identifier: Apache-2.0
// lamina/operators/norm/lrn/cpu.hpp - local response normalisation.
#pragma once

#include <lamina/core/config.hpp>

#include <lamina/engine/cpu/schedule/call_context.hpp>
#include <lamina/operators/norm/lrn/definition.hpp>
#if LAMINA_DEFINES
#include <lamina/core/numbers/math.hpp>
#include <lamina/engine/cpu/vector/row_math.hpp>
#endif

namespace lamina { inline namespace LAMINA_ABI { namespace engine::cpu {

template <>
struct call_kernel<operators::lrn> {
  template <class Real = float>
  LAMINA_KERNEL static void run(const call_context& c);
};

template <>
struct call_kernel<gradient_of<operators::lrn>> {
  template <class Real = float>
  LAMINA_KERNEL static void run(const call_context& c);
};

#if LAMINA_DEFINES

template <class Real>
void call_kernel<operators::lrn>::run(const call_context& c) {
  const operand x = c.input(0), y = c.output(0), middle = c.output(1);
  require_real<Real>(c, x);
  const int n = c.integer(0), channels = x.dims[1], size = x.columns / channels;
  const Real k = static_cast<Real>(c.number(1)), alpha = static_cast<Real>(c.number(2)),
             beta = static_cast<Real>(c.number(3));
  for (int r = 0; r < x.rows; ++r)
    for (int i = 0; i < channels; ++i) {
      const channels_around nearby(i, n, channels);
      const Real* const from = x.row<const Real>(r);
      const std::ptrdiff_t at = static_cast<std::ptrdiff_t>(i) * size;
      Real* const to = y ? y.row<Real>(r) + at : nullptr;
      Real* const kept = middle ? middle.row<Real>(r) + at : nullptr;
      for_each_position<Real>(size, [=](std::ptrdiff_t j, auto like) {
        using number = decltype(like);
        number sum(Real(0));
        for (int m = nearby.first; m < nearby.end; ++m) {
          const number v = load(from + static_cast<std::ptrdiff_t>(m) * size + j, like);
          sum += v * v;
        }
        const number whole = number(k) + number(alpha) * sum;
        if (kept != nullptr) store(kept + j, whole);
        if (to != nullptr)
          store(to + j, number(math::select(
                            whole == number(Real(0)), number(Real(0)),
                            number(load(from + at + j, like) * math::pow(whole, number(-beta))))));
      });
    }
}
LAMINA_INSTANCE(void call_kernel<operators::lrn>::run<float>(const call_context&))
LAMINA_INSTANCE(void call_kernel<operators::lrn>::run<double>(const call_context&))

template <class Real>
void call_kernel<gradient_of<operators::lrn>>::run(const call_context& c) {
  const operand x = c.input(0), y = c.input(1), middle = c.input(2), d = c.input(3);
  const operand dx = c.output(0);
  if (!dx) return;
  const int n = c.integer(0), channels = x.dims[1], size = x.columns / channels;
  const Real beta = static_cast<Real>(c.number(3));
  const Real factor = 2 * static_cast<Real>(c.number(2)) * beta;
  for (int r = 0; r < x.rows; ++r)
    for (int i = 0; i < channels; ++i) {
      const channels_around nearby(i, n, channels, true);
      const Real *const from = x.row<const Real>(r), *const out = y.row<const Real>(r),
                        *const whole = middle.row<const Real>(r),
                        *const grad = d.row<const Real>(r);
      const std::ptrdiff_t at = static_cast<std::ptrdiff_t>(i) * size;
      Real* const to = dx.row<Real>(r) + at;
      for_each_position<Real>(size, [=](std::ptrdiff_t j, auto like) {
        using number = decltype(like);
        number sum(Real(0));
        for (int m = nearby.first; m < nearby.end; ++m) {
          const std::ptrdiff_t p = static_cast<std::ptrdiff_t>(m) * size + j;
          const number v = load(whole + p, like);
          sum += math::select(v == number(Real(0)), number(Real(0)),
                              number(load(grad + p, like) * load(out + p, like) / v));
        }
        // If k and all neighbours are 0, the power is infinite, and the element gets the gradient
        // 0.
        const number own = load(whole + at + j, like);
        const number power =
            math::select(own == number(Real(0)), number(Real(0)), math::pow(own, number(-beta)));
        store(to + j, number(load(grad + at + j, like) * power -
                             number(factor) * load(from + at + j, like) * sum));
      });
    }
}
LAMINA_INSTANCE(void call_kernel<gradient_of<operators::lrn>>::run<float>(const call_context&))
LAMINA_INSTANCE(void call_kernel<gradient_of<operators::lrn>>::run<double>(const call_context&))

#endif  // LAMINA_DEFINES

}}}  // namespace lamina::engine::cpu
