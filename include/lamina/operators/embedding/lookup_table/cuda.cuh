// SPDX-License-Identifier: Apache-2.0
// lamina/operators/embedding/lookup_table/cuda.cuh - kernels of lookup_table, which copies the rows
// of an embedding table that ids select. The gradient of a table row is the sum of the gradients of
// equal ids, in the order of Ids, so that the result is the same in each run.
#pragma once

#include <lamina/core/config.hpp>

#include <cstdint>
#include <limits>

#include <lamina/engine/cuda/body/element_loops.cuh>
#include <lamina/engine/cuda/body/part_copy.cuh>
#include <lamina/engine/cuda/device/algorithms.hpp>
#include <lamina/engine/cuda/memory/selected_rows.cuh>
#include <lamina/operators/embedding/lookup_table/common.hpp>
#include <lamina/operators/embedding/lookup_table/definition.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace engine::cuda {

namespace detail {

/// The arguments of the kernels: a table, ids that select entries of the table, and an array `to`
/// with one entry per id.
struct entry_arguments {
  argument_view ids;
  void *table, *to;
  std::ptrdiff_t table_step, to_step;
  divider to_in_row;  // entries per row of `to`
  std::ptrdiff_t to_size;
  int entries, size, bytes;
  std::int64_t padding;
  fault_word* fault;
  int group;
  int *keys, *positions;  // one per id, before or after sorting
  int lines, width, count;

  LAMINA_INLINE LAMINA_FN std::ptrdiff_t entry(int i) const {
    const int row = to_in_row.divide(i);
    return row * to_step + i * to_size;
  }
  /// Returns the entry of the table that element i of the ids selects; -1 if the id is the padding
  /// or out of range.
  LAMINA_INLINE LAMINA_FN int chosen_by(int i) const {
    const std::int64_t id = ids.integer(i);
    return id >= 0 && id < entries && id != padding ? static_cast<int>(id) : -1;
  }
};

struct entry_lines {
  using arguments = entry_arguments;
  template <class Team>
  static LAMINA_INLINE LAMINA_FN void line(const arguments& a, int i, const Team& team) {
    const int chosen = a.chosen_by(i);
    if (chosen < 0 && team.rank() == 0 && a.ids.integer(i) != a.padding)
      report_fault(a.fault, a.group, i);
    LAMINA_CUDA_KEEP_LOOP
    for (int j = team.rank(); j < a.size; j += team.size())
      if (chosen >= 0)
        copy_element(a.table, chosen * a.table_step + j, a.to, a.entry(i) + j, a.bytes);
      else
        zero_element(a.to, a.entry(i) + j, a.bytes);
  }
};

/// Writes the ids as keys for the sort. Ids that select no entry get the largest key, so they come
/// last.
struct entry_key {
  using arguments = entry_arguments;
  using value = int;
  static LAMINA_INLINE LAMINA_FN int at(const arguments& a, int i) {
    const int chosen = a.chosen_by(i);
    return chosen < 0 ? a.entries : chosen;
  }
};

/// Adds up the entries of equal ids. Among equal keys, the team of the first one computes the sum.
/// The sum goes to the row of the table that the id selects or, with `Selected`, to the row of the
/// first of the equal keys; then the rows of the other keys get zeros.
template <bool Selected>
struct entry_sum_lines {
  using arguments = entry_arguments;
  template <class Team>
  static LAMINA_INLINE LAMINA_FN void line(const arguments& a, int i, const Team& team) {
    const int key = a.keys[i];
    const bool adds = key != a.entries && (i == 0 || a.keys[i - 1] != key);
    if (!Selected && !adds) return;
    float* const to = static_cast<float*>(a.table) + (Selected ? i : key) * a.table_step;
    const float* const from = static_cast<const float*>(a.to);
    for (int j = team.rank(); j < a.size; j += team.size()) {
      float sum = 0;
      for (int k = i; adds && k < a.lines && a.keys[k] == key; ++k)
        sum += from[a.entry(a.positions[k]) + j];
      to[j] = sum;
    }
  }
};

/// Returns the arguments of a kernel whose entries are the rows of `table`.
inline entry_arguments entries_of(const call_context& c, const operand& ids, const operand& table,
                                  const operand& array) {
  entry_arguments a{};
  const entry_layout t(table);
  a.ids = view_of_operand(ids);
  a.table = table.data;
  a.table_step = t.step;
  a.entries = static_cast<int>(t.count);
  a.size = static_cast<int>(t.size);
  a.bytes = size_of(table.type);
  a.to = array.data;
  a.to_step = array.stride;
  a.to_size = t.size;
  a.to_in_row = divider(t.size > 0 ? array.columns / static_cast<int>(t.size) : 1);
  a.padding = std::int64_t{-1} << 62;
  a.fault = c.run.fault;
  a.group = c.number_of_group;
  a.lines = a.count = ids.rows * ids.columns;
  a.width = a.size;
  return a;
}

/// Sorts ids and their positions in scratch memory.
struct entry_order {
  algorithm::sort_pairs<int> sort;
  scratch_arena arena;

  entry_order(float* scratch, int n, int entries) : sort{}, arena(scratch) {
    int bits = 1;
    while (bits < 31 && 1 << bits <= entries) ++bits;
    sort = {arena.take_sort<int>(n), n, bits};
  }
  template <class Backend>
  void run(Backend& b, entry_arguments& a) const {
    b.run_algorithm(sort, arena.rest());
    a.keys = sort.sorted_keys;
    a.positions = sort.sorted_numbers;
  }
};
template <class Backend>
std::ptrdiff_t entry_sum_scratch(int n) {
  const entry_order order(nullptr, n, (std::numeric_limits<int>::max)());
  return order.arena.used() + algorithm_floats<Backend>(order.sort);
}

/// Sorts the ids that select entries, together with their positions. Writes the sorted ids to
/// `sorted` if it is given.
template <class Key, class Backend, class Arguments>
void sort_entries(Backend& b, const call_context& c, Arguments& a, int* sorted = nullptr) {
  entry_order order(c.run.scratch, a.lines, a.entries);
  if (sorted != nullptr) order.sort.sorted_keys = sorted;
  b.run_algorithm(algorithm::tabulate<Key>{a, order.sort.keys, a.lines});
  b.run_algorithm(algorithm::sequence<int>{order.sort.numbers, a.lines});
  order.run(b, a);
}

/// Computes the gradient of a table: each entry of `table` becomes the sum of the entries of `to`
/// whose ids select it. With `Selected`, `table` has one row per id instead: the sum goes to the
/// row of the first of several equal ids, and the ids are written to `sorted` in ascending order.
template <bool Selected, class Backend>
void add_entries(Backend& b, const call_context& c, entry_arguments a, int* sorted = nullptr) {
  if (a.lines == 0) return;
  sort_entries<entry_key>(b, c, a, sorted);
  b.template lines<team_lines<entry_sum_lines<Selected>>>(a);
}
/// Sets an array of floats to zero, including the padding between its rows.
template <class Backend>
void clear(Backend& b, const operand& to) {
  b.run_algorithm(
      algorithm::fill<float>{to.row<float>(0), 0, static_cast<int>(to.rows * to.stride)});
}
template <class Backend>
void add_entries_to(Backend& b, const call_context& c, const entry_arguments& a,
                    const operand& table) {
  require_float(c, table);
  clear(b, table);
  add_entries<false>(b, c, a);
}

}  // namespace detail

template <>
struct call_kernel<operators::lookup_table> {
  static constexpr checked_input checked{1, "id", chosen::row};
  static constexpr bool launches = true;
  template <class Backend>
  static void launch(Backend& b, const call_context& c) {
    const operand table = c.input(0);
    require_float(c, table);
    auto a = detail::entries_of(c, c.input(1), table, c.output(0));
    a.padding = static_cast<std::int64_t>(c.number(2));
    b.template lines<team_lines<detail::entry_lines>>(a);
  }
};
template <>
struct call_kernel<gradient_of<operators::lookup_table>> {
  static constexpr bool launches = true;
  template <class Backend>
  static void launch(Backend& b, const call_context& c) {
    const operand dw = c.output(0);
    if (!dw) return;
    auto a = detail::entries_of(c, c.input(1), dw, c.input(2));
    a.padding = static_cast<std::int64_t>(c.number(2));
    detail::add_entries_to(b, c, a, dw);
  }
  template <class Backend>
  static std::ptrdiff_t scratch(const call_context& c) {
    return detail::entry_sum_scratch<Backend>(c.input(1).rows * c.input(1).columns);
  }
};

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
