// SPDX-License-Identifier: Apache-2.0
// lamina/operators/shape/reshape/cpu.hpp - the kernels of reshape2, squeeze2, unsqueeze2 and
// flatten2, which change the shape, and of transpose2, which permutes dimensions.
#pragma once

#include <lamina/core/config.hpp>

#include <lamina/engine/common/part_layout.hpp>
#include <lamina/engine/cpu/memory/part_copy.hpp>
#include <lamina/engine/cpu/schedule/call_context.hpp>
#include <lamina/operators/shape/reshape/definition.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace engine::cpu {

namespace detail {

/// Copies X to Out. The output XShape needs no kernel, because it has no elements.
struct reshape_kernel {
  template <class Real = float>
  static void run(const call_context& c) {
    const operand x = c.input(0), out = c.output(0);
    if (!out) return;
    require_size(c, x, out);
    copy_elements(x, out);
  }
};
struct reshape_gradient_kernel {
  template <class Real = float>
  static void run(const call_context& c) {
    const operand grad = c.input(1), dx = c.output(0);
    if (!dx) return;
    require_size(c, dx, grad);
    copy_elements(grad, dx);
  }
};

/// Copies `from` to `to` with permuted dimensions: dimension k of `to` is dimension axis[k] of
/// `from`. With `back`, the permutation is inverted: dimension axis[k] of `to` is dimension k of
/// `from`.
inline void transpose_into(const call_context& c, const operand& from, const operand& to,
                           bool back) {
  if (from.data == to.data) return;  // both are one array
  const array_layout y = layout_of(to);
  const turned_steps turned(c, layout_of(from), y.rank, back);
  copy_part(from.type, y.rank, y.extent, {from.data, 0, turned.step}, {to.data, 0, y.step});
}

}  // namespace detail

template <>
struct call_kernel<operators::reshape2> : detail::reshape_kernel {};
template <>
struct call_kernel<gradient_of<operators::reshape2>> : detail::reshape_gradient_kernel {};
template <>
struct call_kernel<operators::squeeze2> : detail::reshape_kernel {};
template <>
struct call_kernel<gradient_of<operators::squeeze2>> : detail::reshape_gradient_kernel {};
template <>
struct call_kernel<operators::unsqueeze2> : detail::reshape_kernel {};
template <>
struct call_kernel<gradient_of<operators::unsqueeze2>> : detail::reshape_gradient_kernel {};
template <>
struct call_kernel<operators::flatten2> : detail::reshape_kernel {};
template <>
struct call_kernel<gradient_of<operators::flatten2>> : detail::reshape_gradient_kernel {};

template <>
struct call_kernel<operators::transpose2> {
  template <class Real = float>
  LAMINA_KERNEL static void run(const call_context& c);
};
template <>
struct call_kernel<gradient_of<operators::transpose2>> {
  template <class Real = float>
  LAMINA_KERNEL static void run(const call_context& c);
};

#if LAMINA_DEFINES

template <class Real>
void call_kernel<operators::transpose2>::run(const call_context& c) {
  if (const operand out = c.output(0)) detail::transpose_into(c, c.input(0), out, false);
}
LAMINA_INSTANCE(void call_kernel<operators::transpose2>::run<float>(const call_context&))
LAMINA_INSTANCE(void call_kernel<operators::transpose2>::run<double>(const call_context&))

template <class Real>
void call_kernel<gradient_of<operators::transpose2>>::run(const call_context& c) {
  if (const operand dx = c.output(0)) detail::transpose_into(c, c.input(1), dx, true);
}
LAMINA_INSTANCE(
    void call_kernel<gradient_of<operators::transpose2>>::run<float>(const call_context&))
LAMINA_INSTANCE(
    void call_kernel<gradient_of<operators::transpose2>>::run<double>(const call_context&))

#endif  // LAMINA_DEFINES

}}}  // namespace lamina::engine::cpu
