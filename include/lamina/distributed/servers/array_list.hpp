// SPDX-License-Identifier: Apache-2.0
// lamina/distributed/servers/array_list.hpp - copies the pointers of the arrays of a trainer.
#pragma once

#include <lamina/core/config.hpp>

#include <cstddef>
#include <utility>
#include <vector>

#include <lamina/core/messages/error.hpp>
#include <lamina/distributed/servers/ps_embedding.hpp>
#include <lamina/model/sharded/sharded_embedding.hpp>
#include <lamina/train/world.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace distributed {

/// Keeps the pointers of trained_arrays, whose lists do not outlive the call. Throws lamina::error
/// for sharded tables that no parameter servers own.
struct array_list {
  std::vector<float*> gradients, values;
  std::vector<std::size_t> floats;
  std::vector<int> rows;  // parameters that are updated by selected rows
  // All parameters with sparse gradients, and trained_arrays::row_floats of each parameter.
  std::vector<int> with_rows, row_floats;
  bool whole, is_double;
  ps_embedding* tables;       // sharded tables whose rows servers own; null: there are none
  std::vector<int> table_of;  // with sharded tables, by parameter
  std::vector<bool> has_rows;

  LAMINA_COLD explicit array_list(const trained_arrays& of)
      : gradients(of.gradients, of.gradients + of.count),
        values(of.values, of.values + of.count),
        floats(of.floats, of.floats + of.count),
        whole(of.whole),
        is_double(of.is_double),
        tables(served(of.tables)) {
    for (int i = 0; i < of.count; ++i) {
      row_floats.push_back(of.row_floats == nullptr ? 0 : of.row_floats[i]);
      if (row_floats.back() != 0) with_rows.push_back(i);
      has_rows.push_back(of.has_rows[i]);
      if (tables != nullptr) table_of.push_back(of.table_of[i]);
      if (of.has_rows[i] && !(tables != nullptr && of.table_of[i] >= 0)) rows.push_back(i);
    }
  }
  std::size_t count() const { return values.size(); }
  /// Begins the time in which servers serve the sharded tables.
  LAMINA_COLD void open_tables(float* const* accumulators, int states) const {
    if (tables == nullptr) return;
    std::vector<ps_embedding::trained_table> all(tables->tables().size());
    for (std::size_t i = 0; i < count(); ++i) {
      if (table_of[i] < 0) continue;
      ps_embedding::trained_table& t = all[static_cast<std::size_t>(table_of[i])];
      t = {static_cast<int>(i), has_rows[i], {values[i]}};
      const std::size_t wide = static_cast<std::size_t>(states);
      t.arrays.insert(t.arrays.end(), accumulators + i * wide, accumulators + (i + 1) * wide);
    }
    tables->open(std::move(all));
  }
  LAMINA_COLD void close_tables() const {
    if (tables != nullptr) tables->close();
  }

 private:
  LAMINA_COLD static ps_embedding* served(sharded_embedding* of) {
    if (of != nullptr && !of->is_served())
      throw error(
          "lamina: train: expected a model that is made for a session with parameter servers, "
          "found one for a session without");
    return static_cast<ps_embedding*>(of);
  }
};

}}}  // namespace lamina::distributed
