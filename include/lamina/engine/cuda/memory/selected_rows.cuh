// SPDX-License-Identifier: Apache-2.0
// lamina/engine/cuda/memory/selected_rows.cuh - sparse gradients on a device: only the rows of a
// table that a mini-batch used are stored.
//
// The host knows an upper bound of the number of stored rows before a run: the count of the indices
// that select them. So memory is reserved like all other memory, and the launches do not depend on
// the values of the indices.
#pragma once

#include <lamina/core/config.hpp>

#include <cstddef>

#include <lamina/engine/cuda/device/device_buffer.hpp>
#include <lamina/engine/cuda/schedule/call_context.hpp>
#include <lamina/operators/embedding/lookup_table/definition.hpp>
#include <lamina/operators/embedding/selected_rows/definition.hpp>
#include <lamina/plan/plan.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace engine::cuda {

/// A sparse gradient as an argument of kernels. `numbers` holds the indices of the stored rows in
/// ascending order, `values` the row of each index. If an index occurs several times, its first
/// entry holds the sum of its rows; the other entries hold zeros and are ignored. An index outside
/// of the table is ignored too.
struct selected_rows_view {
  int* numbers;
  float* values;
  std::ptrdiff_t stride;
  int count;
  int entries;  // number of rows of the table

  /// Whether entry i must be used: its index is in the table, and it is the first entry of this
  /// index.
  LAMINA_INLINE LAMINA_FN bool counts(int i) const {
    return numbers[i] < entries && (i == 0 || numbers[i - 1] != numbers[i]);
  }
  /// Returns the first entry with index `number`, or -1.
  LAMINA_INLINE LAMINA_FN int find(int number) const {
    int first = 0, end = count;
    while (first < end) {
      const int middle = first + (end - first) / 2;
      if (numbers[middle] < number)
        first = middle + 1;
      else
        end = middle;
    }
    return first < count && numbers[first] == number ? first : -1;
  }
};

/// The host's data of a sparse gradient: the addresses, and `count` as an upper bound of the stored
/// rows.
struct selected_rows {
  int* numbers = nullptr;
  float* values = nullptr;
  int count = 0, capacity = 0;  // stored rows; rows for which there is memory
  int columns = 0, entries = 0;

  selected_rows_view view() const { return {numbers, values, padded(columns), count, entries}; }
};

/// rows_of() returns the sparse gradient whose address an operand holds. has_selected_rows()
/// returns whether an operand holds such an address.
inline const selected_rows& rows_of(const operand& o) {
  return *static_cast<const selected_rows*>(o.data);
}
inline bool has_selected_rows(const operand& o) { return o.stride == 0; }

/// The sparse gradients of program P, which share one separate allocation.
template <class P, class Backend>
class selected_rows_memory {
 public:
  static constexpr int count = plan<P>::memory.selected_rows;

  LAMINA_COLD explicit selected_rows_memory(Backend& b) : memory_(b) {
    for (int i = 0; i < count; ++i)
      rows_[i].columns = table.columns[i], rows_[i].entries = table.entries[i];
  }

  selected_rows& rows(int number) { return rows_[number]; }
  const selected_rows& rows(int number) const { return rows_[number]; }

  /// Computes the number of stored rows from `rows`, the number of rows per domain, and reserves
  /// memory for `most` rows per domain. Returns whether the memory has moved.
  bool bind(const int* rows, const int* most) {
    count_rows(most, &selected_rows::capacity);
    count_rows(rows, &selected_rows::count);
    std::size_t floats = 0;
    for (const selected_rows& r : rows_) floats += numbers_size(r) + values_size(r);
    const bool moved = memory_.reserve(floats * sizeof(float));
    float* at = reinterpret_cast<float*>(memory_.data());
    for (selected_rows& r : rows_) {
      r.numbers = reinterpret_cast<int*>(at);
      r.values = at + numbers_size(r);
      at = r.values + values_size(r);
    }
    return moved;
  }

 private:
  static std::size_t numbers_size(const selected_rows& r) {
    return static_cast<std::size_t>(padded(r.capacity));
  }
  static std::size_t values_size(const selected_rows& r) {
    return static_cast<std::size_t>(r.capacity) * static_cast<std::size_t>(padded(r.columns));
  }

  /// A term of the row count of sparse gradient `to`. If `from` >= 0, all rows of sparse gradient
  /// `from` are added; otherwise one row per index, which are `rows` rows of `columns` indices.
  struct addend {
    int to, from, rows, columns;
  };
  struct table_type {
    int columns[bound(count)], entries[bound(count)];
    addend addends[bound(counts_of<P>.arguments)];
    int addend_count;
  };
  static constexpr table_type make() {
    constexpr const auto& lowered = plan<P>::lowered;
    constexpr const program_desc& p = P::desc;
    table_type t{};
    const auto number = [&](int v) {
      return p.variables[v].kind == variable_kind::selected_rows ? plan<P>::memory.slot_of[v].offset
                                                                 : -1;
    };
    for (int v = 0; v < p.count.variables; ++v)
      if (const int i = number(v); i >= 0) {
        const matrix_shape m = matrix_of(p.variables[p.variables[v].of], p.dims);
        t.columns[i] = m.columns, t.entries[i] = m.rows;
      }
    for (int k = 0; k < p.count.operators; ++k) {
      const operator_desc op = p.operators[k];
      if (op.schema == &schema_of<operators::lookup_table_rows_gradient>()) {
        const plan_variable ids = lowered.variables[p.arguments[op.inputs + 1]];
        t.addends[t.addend_count++] = {number(p.arguments[op.outputs]), -1, ids.rows, ids.columns};
      } else if (op.schema == &schema_of<operators::selected_rows_sum>()) {
        // The entry at op.inputs is the number of operands, so the loop begins after it.
        for (int a = op.inputs + 1; a < op.outputs; ++a)
          t.addends[t.addend_count++] = {number(p.arguments[op.outputs]), number(p.arguments[a]), 0,
                                         0};
      }
    }
    return t;
  }
  static constexpr table_type table = count > 0 ? make() : table_type{};

  void count_rows(const int* rows, int selected_rows::*counted) {
    for (selected_rows& r : rows_) r.*counted = 0;
    for (int k = 0; k < table.addend_count; ++k) {
      const addend& a = table.addends[k];
      rows_[a.to].*counted +=
          a.from >= 0 ? rows_[a.from].*counted : operator_call::rows_of(rows, a.rows) * a.columns;
    }
  }

  device_buffer<Backend> memory_;
  selected_rows rows_[bound(count)];
};

/// Takes the place of selected_rows_memory in programs without sparse gradients.
struct no_selected_rows {
  template <class Backend>
  explicit no_selected_rows(Backend&) {}
};

}}}  // namespace lamina::engine::cuda
