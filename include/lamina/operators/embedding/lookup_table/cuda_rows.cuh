// SPDX-License-Identifier: Apache-2.0
// lamina/operators/embedding/lookup_table/cuda_rows.cuh - the kernel of the sparse gradient of
// lookup_table.
#pragma once

#include <lamina/core/config.hpp>

#include <lamina/engine/cuda/memory/selected_rows.cuh>
#include <lamina/operators/embedding/lookup_table/cuda.cuh>

namespace lamina { inline namespace LAMINA_ABI { namespace engine::cuda {

template <>
struct call_kernel<operators::lookup_table_rows_gradient> {
  static constexpr bool launches = true;
  template <class Backend>
  static void launch(Backend& b, const call_context& c) {
    const operand out = c.output(0);
    if (!out) return;
    const selected_rows& rows = rows_of(out);
    auto a = detail::entries_of(c, c.input(1), c.input(0), c.input(2));
    a.padding = static_cast<std::int64_t>(c.number(2));
    a.table = rows.values;
    a.table_step = padded(rows.columns);
    detail::add_entries<true>(b, c, a, rows.numbers);
  }
  template <class Backend>
  static std::ptrdiff_t scratch(const call_context& c) {
    return detail::entry_sum_scratch<Backend>(c.input(1).rows * c.input(1).columns);
  }
};

}}}  // namespace lamina::engine::cuda
