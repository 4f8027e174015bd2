// SPDX-License-Identifier: Apache-2.0
// lamina/engine/cpu/schedule/group_slicing.hpp - determines how the work of a group can be divided
// among threads.
#pragma once

#include <lamina/core/config.hpp>

#include <cstdint>

#include <lamina/engine/cpu/schedule/schedule_table.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace engine::cpu {

/// The ways to divide a group among threads. `none`: the group cannot be divided. `rows`: each
/// thread computes some rows of the mini-batch, because the results of a row depend only on this
/// row. `product_rows`: the same for a matrix product; if a thread gets few rows, the order of the
/// additions may change. `elements`: the group has a single row, and each thread computes some of
/// its elements. `sums`: the group computes a sum, and each thread sums some of the terms.
enum class slicing : std::uint8_t { none, rows, product_rows, elements, sums };

/// Returns how a group with the arguments `info` can be divided.
constexpr slicing slicing_of(const group_desc& d, const schedule_entry& e,
                             const argument_info* info) {
  const bool is_batch = domain_of_rows(d.rows) == batch::domain;
  switch (d.head) {
    case fusion_anchor::gemm:
    case fusion_anchor::gemm_dx:
      return is_batch ? slicing::product_rows : slicing::none;
    case fusion_anchor::conv:
    case fusion_anchor::conv_dx:
      return is_batch ? slicing::rows : slicing::none;
    case fusion_anchor::pointwise: {
      if (is_batch) return slicing::rows;
      if (d.rows != 1 || d.panel) return slicing::none;
      for (int a = 0; a < e.group.arguments; ++a)
        if (info[a].rows != 1 || (info[a].columns != 1 && info[a].columns != d.columns))
          return slicing::none;
      return slicing::elements;
    }
    case fusion_anchor::call: {
      const row_rule rule = e.group.schema->facts.rows;
      if (rule == row_rule::summed) return slicing::sums;
      // `has_rows`: some argument has one row per sample. `has_others`: some argument has a fixed
      // number of rows. If an argument has the rows of another domain, the group cannot be divided.
      bool has_rows = false, has_others = false;
      for (int a = 0; a < e.group.arguments; ++a) {
        if (info[a].rows < 0 && info[a].rows != -batch::domain) return slicing::none;
        (info[a].rows < 0 ? has_rows : has_others) = true;
      }
      const bool by_row =
          rule == row_rule::independent || (rule == row_rule::paired && !has_others);
      return has_rows && by_row ? slicing::rows : slicing::none;
    }
    default:
      return slicing::none;
  }
}

}}}  // namespace lamina::engine::cpu
