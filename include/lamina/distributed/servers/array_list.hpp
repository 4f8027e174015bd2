// SPDX-License-Identifier: Apache-2.0
// lamina/distributed/servers/array_list.hpp - the arrays of a trainer, kept by pointer.
#pragma once

#include <lamina/core/config.hpp>

#include <cstddef>
#include <vector>

#include <lamina/train/world.hpp>

namespace lamina::inline LAMINA_ABI::distributed {

/// The pointers of trained_arrays, which outlive the call that made them.
struct array_list {
  std::vector<float*> gradients, values;
  std::vector<std::size_t> floats;
  std::vector<int> rows;  // parameters that are updated by selected rows
  // All parameters whose gradients are selected rows; and by parameter, trained_arrays::row_floats.
  std::vector<int> with_rows, row_floats;
  bool whole, is_double;

  LAMINA_COLD explicit array_list(const trained_arrays& of)
      : gradients(of.gradients, of.gradients + of.count),
        values(of.values, of.values + of.count),
        floats(of.floats, of.floats + of.count),
        whole(of.whole),
        is_double(of.is_double) {
    for (int i = 0; i < of.count; ++i) {
      row_floats.push_back(of.row_floats == nullptr ? 0 : of.row_floats[i]);
      if (row_floats.back() != 0) with_rows.push_back(i);
      if (of.has_rows[i]) rows.push_back(i);
    }
  }
  std::size_t count() const { return values.size(); }
};

}  // namespace lamina::inline LAMINA_ABI::distributed
