// SPDX-License-Identifier: Apache-2.0
// lamina/engine/cuda/memory/copy.cuh - kernels that fill constants and copy arrays. The plan's
// copies between panels and rows of a weight are plain copies here, because on the device weights
// are row-major like all other arrays.
#pragma once

#include <lamina/core/config.hpp>

#include <lamina/engine/cuda/body/part_copy.cuh>
#include <lamina/engine/cuda/schedule/dynamic_sequences.hpp>
#include <lamina/operators/fill/definition.hpp>
#include <lamina/plan/plan_operators.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace engine::cuda {

template <>
struct call_kernel<operators::fill_constant> {
  static constexpr bool launches = true;
  template <class Backend>
  static void launch(Backend& b, const call_context& c) {
    fill(b, c.output(0), c.number(2));
  }
};

namespace detail {

struct row_copy {
  static constexpr bool launches = true;
  template <class Backend>
  static void launch(Backend& b, const call_context& c) {
    copy_elements(b, c.input(0), c.output(0));
  }
};

}  // namespace detail

template <>
struct call_kernel<operators::stage_feed> : detail::row_copy {};
template <>
struct call_kernel<operators::pack_panels> : detail::row_copy {};
template <>
struct call_kernel<operators::unpack_panels> : detail::row_copy {};

template <>
struct call_kernel<operators::rows_hand_over> {
  static constexpr bool launches = true;
  template <class Backend>
  static void launch(Backend& b, const call_context& c) {
    hand_over_sequences(host_rows(c), c.input(0).domain, c.output(0).domain);
    if (const operand out = c.output(0)) copy_elements(b, c.input(0), out);
  }
};

}}}  // namespace lamina::engine::cuda
