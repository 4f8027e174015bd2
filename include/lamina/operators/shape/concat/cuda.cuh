// SPDX-License-Identifier: Apache-2.0
// lamina/operators/shape/concat/cuda.cuh - the kernels of concat, split, stack, unstack, slice,
// crop, pad and expand.
#pragma once

#include <lamina/core/config.hpp>

#include <lamina/engine/cuda/body/part_copy.cuh>
#include <lamina/operators/reduce/dimensions/cuda.cuh>
#include <lamina/operators/shape/concat/common.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace engine::cuda {

namespace detail {

/// The engine of `concat_copies` (concat/common.hpp), which copies parts of arrays and fills
/// arrays, on a device.
template <class Backend>
struct part_writer {
  Backend& b;
  const operator_call& c;

  void copy(dtype type, int rank, const std::ptrdiff_t* extent, const array_part& from,
            const array_part& to) const {
    copy_part(b, c, type, rank, extent, from, to);
  }
  void fill(const operand& to, double value) const { cuda::fill(b, to, value); }
  void clear(const operand& to) const { fill(to, 0); }
};

template <class Operator>
struct concat_kernel {
  static constexpr bool launches = true;
  template <class Backend>
  static void launch(Backend& b, const call_context& c) {
    concat_copies<Operator>::run(c, part_writer<Backend>{b, c});
  }
};

}  // namespace detail

template <>
struct call_kernel<operators::concat> : detail::concat_kernel<operators::concat> {};
template <>
struct call_kernel<gradient_of<operators::concat>>
    : detail::concat_kernel<gradient_of<operators::concat>> {};
template <>
struct call_kernel<operators::split> : detail::concat_kernel<operators::split> {};
template <>
struct call_kernel<gradient_of<operators::split>>
    : detail::concat_kernel<gradient_of<operators::split>> {};
template <>
struct call_kernel<operators::stack> : detail::concat_kernel<operators::stack> {};
template <>
struct call_kernel<gradient_of<operators::stack>>
    : detail::concat_kernel<gradient_of<operators::stack>> {};
template <>
struct call_kernel<operators::slice> : detail::concat_kernel<operators::slice> {};
template <>
struct call_kernel<gradient_of<operators::slice>>
    : detail::concat_kernel<gradient_of<operators::slice>> {};
template <>
struct call_kernel<operators::unstack> : detail::concat_kernel<operators::unstack> {};
template <>
struct call_kernel<gradient_of<operators::unstack>>
    : detail::concat_kernel<gradient_of<operators::unstack>> {};
template <>
struct call_kernel<operators::crop> : detail::concat_kernel<operators::crop> {};
template <>
struct call_kernel<gradient_of<operators::crop>>
    : detail::concat_kernel<gradient_of<operators::crop>> {};
template <>
struct call_kernel<operators::pad> : detail::concat_kernel<operators::pad> {};
template <>
struct call_kernel<gradient_of<operators::pad>>
    : detail::concat_kernel<gradient_of<operators::pad>> {};
template <>
struct call_kernel<operators::expand> : detail::concat_kernel<operators::expand> {};
/// Computes the gradient of each element: the sum of the gradients of its copies.
template <>
struct call_kernel<gradient_of<operators::expand>> {
  static constexpr bool launches = true;
  template <class Backend>
  static void launch(Backend& b, const call_context& c) {
    const operand grad = c.input(1), dx = c.output(0);
    if (!dx) return;
    require_float(c, dx);
    const expanded_layout l(c, layout_of(dx), layout_of(grad));
    loop_nest<2> kept, over;
    for (int d = 0; d < l.rank; ++d) (l.x[d] == 0 ? over : kept).add(l.extent[d], l.y[d], l.x[d]);
    detail::reduce<reduction_kind::sum>(b, c, grad, dx, kept, over);
  }
};

}}}  // namespace lamina::engine::cuda
