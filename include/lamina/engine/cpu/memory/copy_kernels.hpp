// SPDX-License-Identifier: Apache-2.0
// lamina/engine/cpu/memory/copy_kernels.hpp - kernels of the operators that a plan adds to a
// program, such as copies between two memory layouts.
#pragma once

#include <lamina/core/config.hpp>

#include <cstring>

#include <lamina/engine/cpu/gemm/panel.hpp>
#include <lamina/engine/cpu/gemm/panel_copies.hpp>
#include <lamina/engine/cpu/memory/row_parts.hpp>
#include <lamina/engine/cpu/schedule/call_context.hpp>
#include <lamina/plan/plan_operators.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace engine::cpu {

template <>
struct call_kernel<operators::stage_feed> {
  template <class Real = float>
  LAMINA_KERNEL static void run(const call_context& c);
};

template <>
struct call_kernel<operators::unpack_panels> {
  template <class Real = float>
  LAMINA_KERNEL static void run(const call_context& c);
};

template <>
struct call_kernel<operators::pack_panels> {
  template <class Real = float>
  LAMINA_KERNEL static void run(const call_context& c);
};

template <>
struct call_kernel<operators::rows_hand_over> {
  template <class Real = float>
  LAMINA_KERNEL static void run(const call_context& c);
};

#if LAMINA_DEFINES

template <class Real>
void call_kernel<operators::stage_feed>::run(const call_context& c) {
  const operand from = c.at_position(0), to = c.at_position(1);
  const std::size_t bytes =
      static_cast<std::size_t>(from.columns) * static_cast<std::size_t>(size_of(from.type));
  for (int r = 0; r < from.rows; ++r)
    std::memcpy(static_cast<char*>(to.data) + r * to.stride * size_of(to.type),
                static_cast<const char*>(from.data) + r * from.stride * size_of(from.type), bytes);
}
LAMINA_INSTANCE(void call_kernel<operators::stage_feed>::run<float>(const call_context&))
LAMINA_INSTANCE(void call_kernel<operators::stage_feed>::run<double>(const call_context&))

template <class Real>
void call_kernel<operators::unpack_panels>::run(const call_context& c) {
  const operand from = c.at_position(0), to = c.at_position(1);
  const Real* panels = static_cast<const Real*>(from.data);
  for_each_row_segment<Real>(from.rows, from.columns,
                             [&](std::ptrdiff_t offset, int count, int k, int n) {
                               std::memcpy(to.row<Real>(k) + n, panels + offset,
                                           static_cast<std::size_t>(count) * sizeof(Real));
                             });
}
LAMINA_INSTANCE(void call_kernel<operators::unpack_panels>::run<float>(const call_context&))
LAMINA_INSTANCE(void call_kernel<operators::unpack_panels>::run<double>(const call_context&))

template <class Real>
void call_kernel<operators::pack_panels>::run(const call_context& c) {
  const operand from = c.at_position(0), to = c.at_position(1);
  pack(from.rows, from.columns, from.row<const Real>(0), from.stride, static_cast<Real*>(to.data));
}
LAMINA_INSTANCE(void call_kernel<operators::pack_panels>::run<float>(const call_context&))
LAMINA_INSTANCE(void call_kernel<operators::pack_panels>::run<double>(const call_context&))

template <class Real>
void call_kernel<operators::rows_hand_over>::run(const call_context& c) {
  hand_over_sequences(c, c.input(0).domain, c.output(0).domain);
  const operand x = c.input(0), out = c.output(0);
  if (out) copy_block(x, 0, out, 0, x.rows);
}
LAMINA_INSTANCE(void call_kernel<operators::rows_hand_over>::run<float>(const call_context&))
LAMINA_INSTANCE(void call_kernel<operators::rows_hand_over>::run<double>(const call_context&))

#endif  // LAMINA_DEFINES

}}}  // namespace lamina::engine::cpu
