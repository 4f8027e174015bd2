// SPDX-License-Identifier: Apache-2.0
// lamina/operators/reduce/mean/cuda.cuh - the kernel of mean, and of sums over all elements that
// other operators compute.
#pragma once

#include <lamina/core/config.hpp>

#include <lamina/engine/cuda/body/element_sum.cuh>
#include <lamina/engine/cuda/body/part_copy.cuh>
#include <lamina/operators/reduce/mean/definition.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace engine::cuda {

namespace detail {

/// Computes Out = the sum of F(x) over all elements x of X, in double; with Mean, the sum divided
/// by the number of elements.
template <class F, bool Mean>
struct all_reduce_kernel {
  static constexpr bool launches = true;
  template <class Backend>
  static void launch(Backend& b, const call_context& c) {
    const operand x = c.input(0);
    require_float(c, x);
    const int n = x.rows * x.columns;
    const scaled_sum to{c.output(0).row<float>(0), Mean && n > 0 ? 1.0 / n : 1.0};
    sum_terms(b, n, element_terms<F>{x.row<const float>(0), x.stride, divider(x.columns)}, to,
              c.run.scratch);
  }
  template <class Backend>
  static std::ptrdiff_t scratch(const call_context& c) {
    const operand x = c.input(0);
    return sum_scratch<element_terms<F>, scaled_sum, Backend>(x.rows * x.columns);
  }
};

}  // namespace detail

template <>
struct call_kernel<operators::mean> : detail::all_reduce_kernel<element_itself, true> {};

}}}  // namespace lamina::engine::cuda
