// SPDX-License-Identifier: Apache-2.0
// lamina/operators/loss/ctc/cuda_align.cuh - the kernel of ctc_align, which turns a path into its
// labels.
#pragma once

#include <lamina/core/config.hpp>

#include <lamina/engine/cuda/schedule/dynamic_sequences.hpp>
#include <lamina/operators/loss/ctc/definition.hpp>
#include <lamina/operators/sequence/ids/cuda.cuh>

namespace lamina { inline namespace LAMINA_ABI { namespace engine::cuda {

template <>
struct call_kernel<operators::ctc_align> {
  static constexpr bool launches = true;
  template <class Backend>
  static void launch(Backend& b, const call_context& c) {
    const int blank = c.integer(0);
    const bool merges = c.flag(1);
    detail::keep_rows(b, c, [=](const auto& id, int row, int first) {
      return id(row) != blank && !(merges && row > first && id(row) == id(row - 1));
    });
  }
  template <class Backend>
  static std::ptrdiff_t scratch(const call_context& c) {
    return row_order::scratch(c);
  }
};

}}}  // namespace lamina::engine::cuda
