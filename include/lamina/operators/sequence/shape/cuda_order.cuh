// SPDX-License-Identifier: Apache-2.0
// lamina/operators/sequence/shape/cuda_order.cuh - the kernels of sequence_reverse, which reverses
// rows, and of lod_reset, which replaces sequences.
#pragma once

#include <lamina/core/config.hpp>

#include <lamina/engine/cuda/body/part_copy.cuh>
#include <lamina/engine/cuda/schedule/dynamic_sequences.hpp>
#include <lamina/operators/sequence/cuda.cuh>
#include <lamina/operators/sequence/shape/definition.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace engine::cuda {

template <>
struct call_kernel<operators::sequence_reverse> {
  static constexpr bool launches = true;
  template <class Backend>
  static void launch(Backend& b, const call_context& c) {
    const operand x = c.input(0);
    detail::sequence_arguments a{};
    a.in[0] = view_of_operand(x);
    a.out[0] = c.out(0);
    detail::run_sequences<detail::sequence_copy_lines<true>>(b, c, a, x.domain, x);
  }
};

/// Copies the rows of X to Out. Out gets the sequences of Y, or new sequences with the offsets in Y
/// or target_lod.
template <>
struct call_kernel<operators::lod_reset> {
  static constexpr bool launches = true;
  template <class Backend>
  static void launch(Backend& b, const call_context& c) {
    const operand y = c.input(1);
    if (!y || c.kind_of(y.domain) != domain_kind::sequence) make_rows(c);
    require_size(c, c.output(0), c.input(0));
    copy_elements(b, c.input(0), c.output(0));
  }

 private:
  static void make_rows(const call_context& c) {
    std::vector<std::int64_t> offsets;
    if (c.input(1))
      offsets = values_of(c, 1);
    else
      for (int i = 0; i < c.list_size(0); ++i) offsets.push_back(c.integer_at(0, i));
    made_offsets(host_rows(c), c.output(0).domain, c.input(0).rows, c.flag(1), offsets);
  }
};
template <>
struct call_kernel<gradient_of<operators::lod_reset>> {
  static constexpr bool launches = true;
  template <class Backend>
  static void launch(Backend& b, const call_context& c) {
    if (const operand dx = c.output(0)) copy_elements(b, c.input(1), dx);
  }
};

}}}  // namespace lamina::engine::cuda
