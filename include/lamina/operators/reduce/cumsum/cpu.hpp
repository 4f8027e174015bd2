// SPDX-License-Identifier: Apache-2.0
// lamina/operators/reduce/cumsum/cpu.hpp - cumsum: cumulative sums along a dimension.
#pragma once

#include <lamina/core/config.hpp>

#include <lamina/engine/cpu/schedule/call_context.hpp>
#include <lamina/operators/reduce/cumsum/definition.hpp>
#if LAMINA_DEFINES
#include <type_traits>

#include <lamina/core/numbers/wrapping.hpp>
#include <lamina/engine/cpu/vector/long_sums.hpp>
#endif

namespace lamina { inline namespace LAMINA_ABI { namespace engine::cpu {

template <>
struct call_kernel<operators::cumsum> {
  template <class Real = float>
  LAMINA_KERNEL static void run(const call_context& c);
};

#if LAMINA_DEFINES

template <class Real>
void call_kernel<operators::cumsum>::run(const call_context& c) {
  const operand in = c.input(0), out = c.output(0);
  if (!out) return;
  const array_layout shape = layout_of(in);
  const int axis = dimension_of(c, c.integer(0), shape.rank);
  const bool exclusive = c.flag(1), reverse = c.flag(2);
  const line_layout from(shape, axis), to(layout_of(out), axis);
  with_type(in.type, [&](auto like) {
    using T = decltype(like);
    for (int r = 0; r < from.rows; ++r)
      for (int o = 0; o < from.outer; ++o)
        for (int i = 0; i < from.inner; ++i) {
          const T* x = in.row<const T>(0) + from.at(r, o) + i;
          T* y = out.row<T>(0) + to.at(r, o) + i;
          using wide = std::conditional_t<std::is_same_v<T, float>, double, T>;
          wide sum = 0;
          for (int k = 0; k < from.n; ++k) {
            const int at = reverse ? from.n - 1 - k : k;
            const wide next = math::wrapping_sum(sum, static_cast<wide>(x[at * from.step]));
            y[at * to.step] = static_cast<T>(exclusive ? sum : next);
            sum = next;
          }
        }
  });
}
LAMINA_INSTANCE(void call_kernel<operators::cumsum>::run<float>(const call_context&))
LAMINA_INSTANCE(void call_kernel<operators::cumsum>::run<double>(const call_context&))

#endif  // LAMINA_DEFINES

}}}  // namespace lamina::engine::cpu
