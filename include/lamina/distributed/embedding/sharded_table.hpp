// SPDX-License-Identifier: Apache-2.0
// lamina/distributed/embedding/sharded_table.hpp - tells which process owns a row of a table, and
// where the row is in memory.
#pragma once

#include <lamina/core/config.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <utility>
#include <vector>

#include <lamina/core/arrays/padding.hpp>
#include <lamina/engine/cpu/gemm/panel.hpp>
#include <lamina/model/sharded/sharded_embedding.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace distributed {

/// Divides a table over R ranks: rank r owns rows [rows * r / R, rows * (r + 1) / R). If the first
/// ranks own nothing, R and r are counted without them. In memory the table has the layout of
/// parameters, panels of columns, so a row consists of several slices.
class sharded_table {
 public:
  /// The part of each row that lies in one panel. All numbers are in bytes.
  struct slice {
    std::size_t begin;   // the offset of row 0
    std::size_t step;    // the stride between rows
    std::size_t column;  // the offset in a row without padding
    std::size_t bytes;   // the size without padding
  };

  /// Ranks below `first_owner` own no rows.
  sharded_table(const embedding_table& of, int ranks, int first_owner = 0)
      : of_(of), owners_(ranks - first_owner), first_owner_(first_owner) {
    if (of.type == dtype::float64)
      find_slices<double>();
    else
      find_slices<float>();
  }

  const embedding_table& table() const { return of_; }
  const std::vector<slice>& slices() const { return slices_; }
  std::size_t row_bytes() const {
    return static_cast<std::size_t>(of_.columns) * static_cast<std::size_t>(size_of(of_.type));
  }
  /// Returns the size in bytes of the whole table in memory, with padding.
  std::size_t memory_bytes() const {
    return static_cast<std::size_t>(of_.rows) * static_cast<std::size_t>(padded(of_.columns)) *
           static_cast<std::size_t>(size_of(of_.type));
  }

  int first(int rank) const {
    const std::int64_t before = rank < first_owner_ ? 0 : rank - first_owner_;
    return static_cast<int>(of_.rows * before / owners_);
  }
  int end(int rank) const { return first(rank + 1); }
  int owner(int row) const {
    return first_owner_ +
           static_cast<int>(((static_cast<std::int64_t>(row) + 1) * owners_ - 1) / of_.rows);
  }

  /// Copies a row from the memory layout of the table to contiguous elements; copy_in() copies it
  /// back.
  void copy_out(const std::byte* memory, int row, std::byte* to) const {
    for (const slice& s : slices_)
      std::memcpy(to + s.column, memory + s.begin + static_cast<std::size_t>(row) * s.step,
                  s.bytes);
  }
  void copy_in(const std::byte* from, int row, std::byte* memory) const {
    for (const slice& s : slices_)
      std::memcpy(memory + s.begin + static_cast<std::size_t>(row) * s.step, from + s.column,
                  s.bytes);
  }

 private:
  template <class Real>
  void find_slices() {
    using namespace engine::cpu;
    for (int first = 0; first < of_.columns; first += panel_width_in<Real>) {
      const int width = width_of_panel<Real>(of_.columns, first);
      const int used = (std::min)(width, of_.columns - first);
      slices_.push_back({static_cast<std::size_t>(offset_of_panel(of_.rows, first)) * sizeof(Real),
                         static_cast<std::size_t>(width) * sizeof(Real),
                         static_cast<std::size_t>(first) * sizeof(Real),
                         static_cast<std::size_t>(used) * sizeof(Real)});
    }
  }

  embedding_table of_;
  int owners_, first_owner_;
  std::vector<slice> slices_;
};

}}}  // namespace lamina::distributed
