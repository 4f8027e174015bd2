// SPDX-License-Identifier: Apache-2.0
// lamina/operators/shape/reshape/cuda.cuh - the kernels of reshape2, squeeze2, unsqueeze2 and
// flatten2, which change the shape, and of transpose2, which permutes dimensions.
#pragma once

#include <lamina/core/config.hpp>

#include <lamina/engine/common/part_layout.hpp>
#include <lamina/engine/cuda/body/part_copy.cuh>
#include <lamina/operators/shape/reshape/definition.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace engine::cuda {

namespace detail {

/// Copies X to Out. The output XShape needs no kernel, because it has no elements.
template <int From>
struct reshape_kernel {
  static constexpr bool launches = true;
  template <class Backend>
  static void launch(Backend& b, const call_context& c) {
    const operand from = c.input(From), to = c.output(0);
    if (!to) return;
    require_size(c, to, from);
    copy_elements(b, from, to);
  }
};

template <bool Back>
struct transpose_kernel {
  static constexpr bool launches = true;
  template <class Backend>
  static void launch(Backend& b, const call_context& c) {
    const operand from = c.input(Back ? 1 : 0), to = c.output(0);
    if (!to || from.data == to.data) return;
    const array_layout y = layout_of(to);
    const turned_steps turned(c, layout_of(from), y.rank, Back);
    copy_part(b, c, from.type, y.rank, y.extent, {from.data, 0, turned.step}, {to.data, 0, y.step});
  }
};

}  // namespace detail

template <>
struct call_kernel<operators::reshape2> : detail::reshape_kernel<0> {};
template <>
struct call_kernel<gradient_of<operators::reshape2>> : detail::reshape_kernel<1> {};
template <>
struct call_kernel<operators::squeeze2> : detail::reshape_kernel<0> {};
template <>
struct call_kernel<gradient_of<operators::squeeze2>> : detail::reshape_kernel<1> {};
template <>
struct call_kernel<operators::unsqueeze2> : detail::reshape_kernel<0> {};
template <>
struct call_kernel<gradient_of<operators::unsqueeze2>> : detail::reshape_kernel<1> {};
template <>
struct call_kernel<operators::flatten2> : detail::reshape_kernel<0> {};
template <>
struct call_kernel<gradient_of<operators::flatten2>> : detail::reshape_kernel<1> {};
template <>
struct call_kernel<operators::transpose2> : detail::transpose_kernel<false> {};
template <>
struct call_kernel<gradient_of<operators::transpose2>> : detail::transpose_kernel<true> {};

}}}  // namespace lamina::engine::cuda
