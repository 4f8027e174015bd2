// SPDX-License-Identifier: Apache-2.0
// lamina/operators/elementwise/sum/cuda.cuh - sums of several variables.
#pragma once

#include <lamina/core/config.hpp>

#include <lamina/core/numbers/wrapping.hpp>
#include <lamina/engine/common/broadcast_layout.hpp>
#include <lamina/engine/cuda/body/element_loops.cuh>
#include <lamina/operators/elementwise/sum/definition.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace engine::cuda {

namespace detail {

/// Computes to = from or to += from for one element of type float, double or an integer type.
struct add_body {
  struct arguments {
    const void* from;
    void* to;
    std::ptrdiff_t from_stride, to_stride;
    divider columns;
    dtype type;
    bool adds;
    int count;
  };
  static LAMINA_INLINE LAMINA_FN void run(const arguments& a, int i) {
    int j = i;
    const int r = a.columns.divide(j);
    const std::ptrdiff_t from = r * a.from_stride + j, to = r * a.to_stride + j;
    if (a.type == dtype::float32)
      static_cast<float*>(a.to)[to] = static_cast<const float*>(a.from)[from] +
                                      (a.adds ? static_cast<const float*>(a.to)[to] : 0.0f);
    else if (a.type == dtype::float64)
      static_cast<double*>(a.to)[to] = static_cast<const double*>(a.from)[from] +
                                       (a.adds ? static_cast<const double*>(a.to)[to] : 0.0);
    else
      store_integer(a.to, a.type, to,
                    math::wrapping_sum(load_integer(a.from, a.type, from),
                                       a.adds ? load_integer(a.to, a.type, to) : std::int64_t{0}));
  }
};

}  // namespace detail

/// Computes sums that cannot be part of a fused group, for example sums of integers.
template <>
struct call_kernel<operators::sum> {
  static constexpr bool launches = true;
  template <class Backend>
  static void launch(Backend& b, const call_context& c) {
    const operand out = c.output(0);
    if (!out) return;
    for (int i = 0; i < c.input_count(0); ++i) {
      const operand x = c.input(0, i);
      require_size(c, out, x);
      b.template elements<detail::add_body>({x.data, out.data, x.stride, out.stride,
                                             divider(out.columns), out.type, i > 0,
                                             out.rows * out.columns});
    }
  }
};

}}}  // namespace lamina::engine::cuda
