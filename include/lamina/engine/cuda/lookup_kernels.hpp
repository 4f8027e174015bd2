// SPDX-License-Identifier: Apache-2.0
// lamina/engine/cuda/lookup_kernels.hpp - rows of a table by number.
#pragma once

#include <lamina/engine/cuda/call_site.hpp>
#include <lamina/operators/lookup_table.hpp>

namespace lamina::engine::cuda {

template <>
struct call_kernel<lookup_table> {
  static constexpr checked_input checked{1, "id", true};
  static void prepare(const call_site& c, call_arguments& a) {
    c.set_arrays(a, 2, 1);
    c.require_float(a.in[0]);
    a.first_row = static_cast<std::int64_t>(c.number(2));  // padding_idx
    a.lines = a.in[1].rows * a.in[1].columns;
    a.width = a.in[0].columns;
  }
  template <class Team>
  static LAMINA_FN void line(const call_arguments& a, int i, const Team& team) {
    const argument_view &table = a.in[0], &ids = a.in[1];
    const std::int64_t id = ids.integer(i);
    const bool inside = id >= 0 && id < table.rows;
    if (!inside && team.rank() == 0) a.report(i);
    float* const to = a.out[0].row<float>(i / ids.columns) +
                      static_cast<std::ptrdiff_t>(i % ids.columns) * table.columns;
    const float* const from =
        inside && id != a.first_row ? table.row<const float>(static_cast<int>(id)) : nullptr;
    for (int j = team.rank(); j < table.columns; j += team.size())
      to[j] = from != nullptr ? from[j] : 0.0f;
  }
};

}  // namespace lamina::engine::cuda
