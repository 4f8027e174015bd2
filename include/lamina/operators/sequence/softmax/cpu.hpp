// SPDX-License-Identifier: Apache-2.0
// lamina/operators/sequence/softmax/cpu.hpp - sequence_softmax: the softmax over the rows of each
// sequence.
#pragma once

#include <lamina/core/config.hpp>

#include <lamina/engine/cpu/schedule/call_context.hpp>
#include <lamina/operators/sequence/softmax/definition.hpp>
#if LAMINA_DEFINES
#include <algorithm>
#include <cmath>

#include <lamina/core/numbers/math.hpp>
#include <lamina/engine/cpu/memory/row_parts.hpp>
#endif

namespace lamina { inline namespace LAMINA_ABI { namespace engine::cpu {

template <>
struct call_kernel<operators::sequence_softmax> {
  template <class Real = float>
  LAMINA_KERNEL static void run(const call_context& c);
};

template <>
struct call_kernel<gradient_of<operators::sequence_softmax>> {
  template <class Real = float>
  LAMINA_KERNEL static void run(const call_context& c);
};

#if LAMINA_DEFINES

template <class Real>
void call_kernel<operators::sequence_softmax>::run(const call_context& c) {
  const operand x = c.input(0), out = c.output(0);
  require_real<Real>(c, x);
  const sequence_rows all = c.sequences(x);
  for (int s = 0; s < all.count; ++s) {
    if (all.length(s) == 0) continue;
    Real most = *x.row<const Real>(all.begin(s));
    double sum = 0;
    for (int r = all.begin(s); r < all.end(s); ++r) most = (std::max)(most, *x.row<const Real>(r));
    for (int r = all.begin(s); r < all.end(s); ++r)
      sum += static_cast<double>(*out.row<Real>(r) = std::exp(*x.row<const Real>(r) - most));
    const Real factor = static_cast<Real>(1 / sum);
    for (int r = all.begin(s); r < all.end(s); ++r) *out.row<Real>(r) *= factor;
  }
}
LAMINA_INSTANCE(void call_kernel<operators::sequence_softmax>::run<float>(const call_context&))
LAMINA_INSTANCE(void call_kernel<operators::sequence_softmax>::run<double>(const call_context&))

template <class Real>
void call_kernel<gradient_of<operators::sequence_softmax>>::run(const call_context& c) {
  const operand y = c.input(0), d = c.input(1), dx = c.output(0);
  if (!dx) return;
  const sequence_rows all = c.sequences(y);
  for (int s = 0; s < all.count; ++s) {
    double total = 0;
    for (int r = all.begin(s); r < all.end(s); ++r)
      total +=
          static_cast<double>(math::multiply_no_nan(*y.row<const Real>(r), *d.row<const Real>(r)));
    const Real sum = static_cast<Real>(total);
    for (int r = all.begin(s); r < all.end(s); ++r)
      *dx.row<Real>(r) = math::multiply_no_nan(*y.row<const Real>(r), *d.row<const Real>(r) - sum);
  }
}
LAMINA_INSTANCE(
    void call_kernel<gradient_of<operators::sequence_softmax>>::run<float>(const call_context&))
LAMINA_INSTANCE(
    void call_kernel<gradient_of<operators::sequence_softmax>>::run<double>(const call_context&))

#endif  // LAMINA_DEFINES

}}}  // namespace lamina::engine::cpu
