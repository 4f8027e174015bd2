// SPDX-License-Identifier: Apache-2.0
// lamina/operators/shape/join/cpu.hpp - operators that join and split arrays: concat, split, stack,
// unstack, slice, crop, pad, expand.
#pragma once

#include <lamina/core/config.hpp>

#include <lamina/engine/cpu/memory/part_copy.hpp>
#include <lamina/operators/fill/cpu.hpp>
#include <lamina/operators/shape/join/common.hpp>

namespace lamina::inline LAMINA_ABI::engine::cpu {

namespace detail {

/// The functions that `joining` needs from an engine.
struct part_writer {
  static void copy(dtype type, int rank, const std::ptrdiff_t* extent, const array_part& from,
                   const array_part& to) {
    copy_part(type, rank, extent, from, to);
  }
  static void fill(const operand& to, double value) { detail::fill(to, value); }
  static void clear(const operand& to) { cpu::clear(to); }
};

template <class Operator>
struct join_kernel {
  template <class Real = float>
  static void run(const call_context& c) {
    joining<Operator>::run(c, part_writer{});
  }
};

}  // namespace detail

template <>
struct call_kernel<concat> : detail::join_kernel<concat> {};
template <>
struct call_kernel<gradient_of<concat>> : detail::join_kernel<gradient_of<concat>> {};
template <>
struct call_kernel<split> : detail::join_kernel<split> {};
template <>
struct call_kernel<gradient_of<split>> : detail::join_kernel<gradient_of<split>> {};
template <>
struct call_kernel<stack> : detail::join_kernel<stack> {};
template <>
struct call_kernel<gradient_of<stack>> : detail::join_kernel<gradient_of<stack>> {};
template <>
struct call_kernel<slice> : detail::join_kernel<slice> {};
template <>
struct call_kernel<gradient_of<slice>> : detail::join_kernel<gradient_of<slice>> {};
template <>
struct call_kernel<unstack> : detail::join_kernel<unstack> {};
template <>
struct call_kernel<gradient_of<unstack>> : detail::join_kernel<gradient_of<unstack>> {};
template <>
struct call_kernel<crop> : detail::join_kernel<crop> {};
template <>
struct call_kernel<gradient_of<crop>> : detail::join_kernel<gradient_of<crop>> {};
template <>
struct call_kernel<pad> : detail::join_kernel<pad> {};
template <>
struct call_kernel<gradient_of<pad>> : detail::join_kernel<gradient_of<pad>> {};
template <>
struct call_kernel<expand> : detail::join_kernel<expand> {};

template <>
struct call_kernel<gradient_of<expand>> {
  template <class Real = float>
  LAMINA_KERNEL static void run(const call_context& c);
};

#if LAMINA_DEFINES

template <class Real>
void call_kernel<gradient_of<expand>>::run(const call_context& c) {
  const operand slope = c.input(1), dx = c.output(0);
  if (!dx) return;
  require_real<Real>(c, dx);
  clear(dx);
  const expanded_layout l(c, layout_of(dx), layout_of(slope));
  add_part<Real>(l.rank, l.extent, {slope.data, 0, l.y}, {dx.data, 0, l.x});
}
LAMINA_INSTANCE(void call_kernel<gradient_of<expand>>::run<float>(const call_context&))
LAMINA_INSTANCE(void call_kernel<gradient_of<expand>>::run<double>(const call_context&))

#endif  // LAMINA_DEFINES

}  // namespace lamina::inline LAMINA_ABI::engine::cpu
