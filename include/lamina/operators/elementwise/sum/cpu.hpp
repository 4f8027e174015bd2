// SPDX-License-Identifier: Apache-2.0
// lamina/operators/elementwise/sum/cpu.hpp - sums of several variables.
#pragma once

#include <lamina/core/config.hpp>

#include <lamina/engine/cpu/schedule/call_context.hpp>
#include <lamina/operators/elementwise/sum/definition.hpp>
#if LAMINA_DEFINES
#include <lamina/core/numbers/wrapping.hpp>
#include <lamina/engine/cpu/vector/element_loops.hpp>
#endif

namespace lamina { inline namespace LAMINA_ABI { namespace engine::cpu {

template <>
struct call_kernel<operators::sum> {
  template <class Real = float>
  LAMINA_KERNEL static void run(const call_context& c);
};

#if LAMINA_DEFINES

template <class Real>
void call_kernel<operators::sum>::run(const call_context& c) {
  const operand out = c.output(0);
  if (!out) return;
  const int n = c.input_count(0);
  for (int i = 0; i < n; ++i) require_size(c, out, c.input(0, i));
  with_type(out.type, [&](auto like) {
    using T = decltype(like);
    for (int r = 0; r < out.rows; ++r) {
      T* const y = out.row<T>(r);
      for (int i = 0; i < n; ++i) {
        const T* const x = c.input(0, i).template row<const T>(r);
        if (i == 0)
          for (int j = 0; j < out.columns; ++j) y[j] = x[j];
        else
          for (int j = 0; j < out.columns; ++j) y[j] = math::wrapping_sum(y[j], x[j]);
      }
    }
  });
}
LAMINA_INSTANCE(void call_kernel<operators::sum>::run<float>(const call_context&))
LAMINA_INSTANCE(void call_kernel<operators::sum>::run<double>(const call_context&))

#endif  // LAMINA_DEFINES

}}}  // namespace lamina::engine::cpu
