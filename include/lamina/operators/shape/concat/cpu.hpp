// SPDX-License-Identifier: Apache-2.0
// lamina/operators/shape/concat/cpu.hpp - the kernels of concat, split, stack, unstack, slice,
// crop, pad and expand.
#pragma once

#include <lamina/core/config.hpp>

#include <lamina/engine/cpu/memory/part_copy.hpp>
#include <lamina/operators/fill/cpu.hpp>
#include <lamina/operators/shape/concat/common.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace engine::cpu {

namespace detail {

/// The engine of `concat_copies` (concat/common.hpp), which copies parts of arrays and fills
/// arrays, on the CPU.
struct part_writer {
  static void copy(dtype type, int rank, const std::ptrdiff_t* extent, const array_part& from,
                   const array_part& to) {
    copy_part(type, rank, extent, from, to);
  }
  static void fill(const operand& to, double value) { detail::fill(to, value); }
  static void clear(const operand& to) { cpu::clear(to); }
};

template <class Operator>
struct concat_kernel {
  template <class Real = float>
  static void run(const call_context& c) {
    concat_copies<Operator>::run(c, part_writer{});
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

template <>
struct call_kernel<gradient_of<operators::expand>> {
  template <class Real = float>
  LAMINA_KERNEL static void run(const call_context& c);
};

#if LAMINA_DEFINES

template <class Real>
void call_kernel<gradient_of<operators::expand>>::run(const call_context& c) {
  const operand grad = c.input(1), dx = c.output(0);
  if (!dx) return;
  require_real<Real>(c, dx);
  clear(dx);
  const expanded_layout l(c, layout_of(dx), layout_of(grad));
  add_part<Real>(l.rank, l.extent, {grad.data, 0, l.y}, {dx.data, 0, l.x});
}
LAMINA_INSTANCE(void call_kernel<gradient_of<operators::expand>>::run<float>(const call_context&))
LAMINA_INSTANCE(void call_kernel<gradient_of<operators::expand>>::run<double>(const call_context&))

#endif  // LAMINA_DEFINES

}}}  // namespace lamina::engine::cpu
