// SPDX-License-Identifier: Apache-2.0
// lamina/operators/sequence/conv/cpu_row_conv.hpp - the kernels of row_conv.
#pragma once

#include <lamina/core/config.hpp>

#include <lamina/engine/cpu/schedule/call_context.hpp>
#include <lamina/operators/sequence/conv/definition.hpp>
#if LAMINA_DEFINES
#include <algorithm>

#include <lamina/core/numbers/math.hpp>
#include <lamina/engine/cpu/memory/row_parts.hpp>
#include <lamina/engine/cpu/vector/row_math.hpp>
#endif

namespace lamina { inline namespace LAMINA_ABI { namespace engine::cpu {

template <>
struct call_kernel<operators::row_conv> {
  template <class Real = float>
  LAMINA_KERNEL static void run(const call_context& c);
};

template <>
struct call_kernel<gradient_of<operators::row_conv>> {
  template <class Real = float>
  LAMINA_KERNEL static void run(const call_context& c);

 private:
  // Computes the gradient of row t of X. The results at t, t - 1, ... have read the row with
  // weights 0, 1, ..., so its gradient is a sum over the gradients of these results.
  template <class Real>
  static void back(const operand& d, const operand& filter, int t, int taps, Real* to) {
    const Real* const dy = d.row<const Real>(t);
    const Real* const w = filter.row<const Real>(0);
    for_each_position<Real>(d.columns, [&](std::ptrdiff_t i, auto like) {
      auto sum = load(dy + i, like) * load(w + i, like);
      for (int j = 1; j < taps; ++j)
        sum += load(dy - j * d.stride + i, like) * load(w + j * filter.stride + i, like);
      store(to + i, sum);
    });
  }
};

#if LAMINA_DEFINES

template <class Real>
void call_kernel<operators::row_conv>::run(const call_context& c) {
  const operand x = c.input(0), filter = c.input(1), out = c.output(0);
  require_real<Real>(c, x);
  const sequence_rows all = c.sequences(x);
  for (int s = 0; s < all.count; ++s)
    for (int t = all.begin(s); t < all.end(s); ++t) {
      const int taps = (std::min)(filter.rows, all.end(s) - t);
      const Real* const from = x.row<const Real>(t);
      const Real* const w = filter.row<const Real>(0);
      Real* const to = out.row<Real>(t);
      for_each_position<Real>(x.columns, [&](std::ptrdiff_t i, auto like) {
        auto sum = load(from + i, like) * load(w + i, like);
        for (int j = 1; j < taps; ++j)
          sum += load(from + j * x.stride + i, like) * load(w + j * filter.stride + i, like);
        store(to + i, sum);
      });
    }
}
LAMINA_INSTANCE(void call_kernel<operators::row_conv>::run<float>(const call_context&))
LAMINA_INSTANCE(void call_kernel<operators::row_conv>::run<double>(const call_context&))

template <class Real>
void call_kernel<gradient_of<operators::row_conv>>::run(const call_context& c) {
  const operand x = c.input(0), filter = c.input(1), d = c.input(2);
  const operand dx = c.output(0), dfilter = c.output(1);
  const sequence_rows all = c.sequences(d);
  if (dfilter) clear(dfilter);
  for (int s = 0; s < all.count; ++s)
    for (int t = all.begin(s); t < all.end(s); ++t) {
      if (dx) back(d, filter, t, (std::min)(filter.rows, t - all.begin(s) + 1), dx.row<Real>(t));
      if (!dfilter) continue;
      const int taps = (std::min)(filter.rows, all.end(s) - t);
      for (int j = 0; j < taps; ++j) {
        const Real* const dy = d.row<const Real>(t);
        const Real* const from = x.row<const Real>(t + j);
        Real* const to = dfilter.row<Real>(j);
        for_each_position<Real>(d.columns, [&](std::ptrdiff_t i, auto like) {
          store(to + i,
                decltype(like)(load(to + i, like) + load(dy + i, like) * load(from + i, like)));
        });
      }
    }
}
LAMINA_INSTANCE(void call_kernel<gradient_of<operators::row_conv>>::run<float>(const call_context&))
LAMINA_INSTANCE(
    void call_kernel<gradient_of<operators::row_conv>>::run<double>(const call_context&))

#endif  // LAMINA_DEFINES

}}}  // namespace lamina::engine::cpu
