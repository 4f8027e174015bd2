// SPDX-License-Identifier: Apache-2.0
// lamina/operators/control/rank_table/cuda.cuh - kernels that process sequences of different
// lengths step by step. The host ranks the sequences, so it knows the number of rows of each step
// before a kernel runs.
#pragma once

#include <lamina/core/config.hpp>

#include <lamina/engine/cuda/body/row_scatter.cuh>
#include <lamina/engine/cuda/schedule/dynamic_sequences.hpp>
#include <lamina/operators/control/array/cuda.cuh>
#include <lamina/operators/control/rank_table/common.hpp>
#include <lamina/operators/control/rank_table/definition.hpp>
#include <lamina/operators/fill/definition.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace engine::cuda {

namespace detail {

/// A rank table: its copy on the host and its copy on the device.
struct device_rank_table {
  rank_table on_host;
  operand on_device;

  device_rank_table(const call_context& c, int slot)
      : on_host(c.on_host(slot)), on_device(c.input(slot)) {}
  row_map ranks(int first = 0) const {
    row_map m;
    m.first = first;
    m.ranks = on_device.row<const std::int64_t>(0);
    m.rank_step = on_device.stride;
    return m;
  }
};

/// Finds the row that each time step reads from a sequence, from the offsets of the sequences on
/// the host.
struct step_rows {
  rank_table table;
  const int* begins;

  step_rows(const call_context& c, int slot, int domain)
      : table(c.on_host(slot)), begins(c.run.host_offsets[domain]) {}
  /// The row of step t of the sequence with rank r. Subtracts begins[0], which is not 0 if this
  /// machine computes only a part of a larger mini-batch, because the offsets then count from the
  /// beginning of the whole mini-batch.
  int row(int t, int r) const { return begins[table.index(r)] - begins[0] + t; }
};

}  // namespace detail

template <>
struct call_kernel<operators::lod_rank_table> {
  template <class Backend>
  static void here(Backend&, const call_context& c) {
    const operand table = c.output(0);
    const int* const offsets =
        c.run.host_offsets[ranked_domain(c, c.input(0).domain, static_cast<int>(c.integer(0)))];
    rank_sequences(table, table.rows, [&](int i) { return offsets[i + 1] - offsets[i]; });
    c.run.reader->write(c.run.reader->machine, c.others[1], table.data,
                        static_cast<std::size_t>(table.rows) *
                            static_cast<std::size_t>(table.stride) * sizeof(std::int64_t));
  }
};

template <>
struct call_kernel<operators::max_sequence_len> {
  static constexpr bool launches = true;
  template <class Backend>
  static void here(Backend&, const call_context& c) {
    *c.output(0).row<std::int64_t>(0) = rank_table(c.input(0)).steps();
  }
  template <class Backend>
  static void launch(Backend& b, const call_context& c) {
    fill(b, c.output(0), rank_table(c.on_host(0)).steps());
  }
};

template <>
struct call_kernel<operators::lod_tensor_to_array> {
  static constexpr bool launches = true;
  template <class Backend>
  static void launch(Backend& b, const call_context& c) {
    const operand x = c.input(0), array = c.output(0);
    detail::array_of<Backend>(array).clear();
    row_scatter positions(x);
    const rank_table table(c.on_host(1));
    const host_rows h(c);
    if (const nested_steps nested(h, x.domain, table); nested.levels() > 0) {
      for (int t = 0; t < table.steps(); ++t) {
        const operand step = detail::new_slot<Backend>(array, t, nested.rows(t));
        int at = 0;
        nested.each(t, [&](int first, int rows) {
          for (int i = 0; i < rows; ++i) positions.set(first + i, step, at++);
        });
        nested.write_offsets(t, detail::array_of<Backend>(array));
      }
      return positions.spread(b, c);
    }
    const detail::step_rows steps(c, 1, x.domain);
    for (int t = 0; t < steps.table.steps(); ++t) {
      const operand step = detail::new_slot<Backend>(array, t, steps.table.alive(t));
      for (int r = 0; r < step.rows; ++r) positions.set(steps.row(t, r), step, r);
    }
    positions.spread(b, c);
  }
  template <class Backend>
  static std::ptrdiff_t scratch(const call_context& c) {
    return row_scatter::scratch(c);
  }
};

template <>
struct call_kernel<operators::lod_tensor_to_array_gradient> {
  static constexpr bool launches = true;
  template <class Backend>
  static void launch(Backend& b, const call_context& c) {
    const operand array = c.input(2), dx = c.output(0);
    if (!dx) return;
    const rank_table table(c.on_host(1));
    const host_rows h(c);
    const nested_steps nested(h, dx.domain, table);
    const auto& from = detail::array_of<Backend>(array);
    row_scatter positions(dx);
    for (int t = 0; t < table.steps(); ++t) {
      if (!from.holds(t)) continue;
      const operand step = detail::slot_of<Backend>(array, t);
      if (const int n = nested.rows(t); step.rows != n)
        fail(c, {"expected ", n, " rows at index ", t, " of the array, found ", step.rows});
      int at = 0;
      nested.each(t, [&](int first, int rows) {
        for (int i = 0; i < rows; ++i) positions.set(first + i, step, at++);
      });
    }
    positions.gather(b, c);
  }
  template <class Backend>
  static std::ptrdiff_t scratch(const call_context& c) {
    return row_scatter::scratch(c);
  }
};

template <>
struct call_kernel<operators::array_to_lod_tensor> {
  static constexpr bool launches = true;
  template <class Backend>
  static void launch(Backend& b, const call_context& c) {
    const operand array = c.input(0), out = c.output(0);
    const detail::step_rows steps(c, 1, out.domain);
    const auto& from = detail::array_of<Backend>(array);
    row_scatter positions(out);
    for (int t = 0; t < steps.table.steps(); ++t) {
      if (!from.holds(t)) continue;
      const int n = steps.table.alive(t);
      const operand step = detail::slot_of<Backend>(array, t);
      if (step.rows != n)
        fail(c, {"expected ", n, " rows at index ", t, " of the array, found ", step.rows});
      for (int r = 0; r < n; ++r) positions.set(steps.row(t, r), step, r);
    }
    positions.gather(b, c);
  }
  template <class Backend>
  static std::ptrdiff_t scratch(const call_context& c) {
    return row_scatter::scratch(c);
  }
};

template <>
struct call_kernel<operators::shrink_rnn_memory> {
  static constexpr bool launches = true;
  template <class Backend>
  static void launch(Backend& b, const call_context& c) {
    const int n = detail::device_rank_table(c, 2).on_host.alive(c.index_in(1));
    const int from = c.input(0).domain, levels = levels_of(c, from);
    const int found = levels == 0 ? c.input(0).rows : c.rows_in(domain_above(c, from, levels));
    if (n > found) fail(c, {"expected at least ", n, " rows or sequences, found ", found});
    if (levels > 0) {
      // The output consists of the first n sequences of the input.
      make_parts(host_rows(c), from, c.output(0).domain, levels, [n](auto&& take) {
        for (int i = 0; i < n; ++i) take(i);
      });
      return copy_rows(b, c.input(0), c.output(0), c.output(0).rows);
    }
    c.set_rows(c.output(0).domain, n);
    if (c.shows()) return c.show(c.input(0).data);
    copy_rows(b, c.input(0), c.output(0), n);
  }
};

template <>
struct call_kernel<gradient_of<operators::shrink_rnn_memory>> {
  static constexpr bool launches = true;
  template <class Backend>
  static void launch(Backend& b, const call_context& c) {
    const operand d = c.input(1), dx = c.output(0);
    if (!dx) return;
    if (d.rows > dx.rows) fail(c, {"expected at most ", dx.rows, " rows, found ", d.rows});
    copy_rows(b, d, dx, d.rows);
    clear_rows(b, dx, d.rows);
  }
};

template <>
struct call_kernel<operators::reorder_lod_tensor_by_rank> {
  static constexpr bool launches = true;
  template <class Backend>
  static void launch(Backend& b, const call_context& c) {
    const detail::device_rank_table table(c, 1);
    const int n = table.on_host.count();
    const int levels = levels_below(c, c.input(0).domain, table.on_host.domain());
    const int found = levels == 0 ? c.input(0).rows : c.rows_in(table.on_host.domain());
    if (found != n) fail(c, {"expected ", n, " rows or sequences, found ", found});
    if (levels > 0)
      return choose_parts(b, c, 0, 0, levels, [&](auto&& take) {
        for (int r = 0; r < n; ++r) take(table.on_host.index(r));
      });
    c.set_rows(c.output(0).domain, n);
    move_rows<row_move::gather>(b, c.input(0), c.output(0), n,
                                detail::device_rank_table(c, 1).ranks());
  }
  template <class Backend>
  static std::ptrdiff_t scratch(const call_context& c) {
    return row_order::scratch(c);
  }
};

template <>
struct call_kernel<gradient_of<operators::reorder_lod_tensor_by_rank>> {
  static constexpr bool launches = true;
  template <class Backend>
  static void launch(Backend& b, const call_context& c) {
    const operand d = c.input(1), dx = c.output(0);
    if (!dx) return;
    const detail::device_rank_table table(c, 0);
    const int levels = levels_below(c, dx.domain, table.on_host.domain());
    if (levels == 0) return move_rows<row_move::scatter>(b, d, dx, d.rows, table.ranks());
    const row_order order = order_of_parts(host_rows(c), dx.domain, levels, [&](auto&& take) {
      for (int r = 0; r < table.on_host.count(); ++r) take(table.on_host.index(r));
    });
    move_rows<row_move::scatter>(b, d, dx, d.rows, order.copy_to_device(c));
  }
  template <class Backend>
  static std::ptrdiff_t scratch(const call_context& c) {
    return row_order::scratch(c);
  }
};

namespace detail {

/// Calls f(first rank, last rank + 1, length) for each run of consecutive ranks whose sequences
/// have the same length.
template <class F>
void each_length(const rank_table& table, F&& f) {
  for (int first = 0; first < table.count();) {
    int end = first + 1;
    while (end < table.count() && table.length(end) == table.length(first)) ++end;
    f(first, end, table.length(first));
    first = end;
  }
}

/// Returns operand `o` without its first `first` rows.
inline operand rows_from(operand o, int first) {
  o.data = static_cast<char*>(o.data) + first * o.stride * size_of(o.type);
  o.rows -= first;
  return o;
}

}  // namespace detail

template <>
struct call_kernel<operators::last_rnn_memory> {
  static constexpr bool launches = true;
  template <class Backend>
  static void launch(Backend& b, const call_context& c) {
    const operand array = c.input(0), out = c.output(0);
    const rank_table table(c.on_host(1));
    const auto& from = detail::array_of<Backend>(array);
    row_scatter positions(out);
    detail::each_length(table, [&](int first, int end, int t) {
      if (!from.holds(t) || from.rows(t) < end)
        fail(c, {"expected a row for sequence ", table.index(end - 1), " at index ", t,
                 " of the array, found none"});
      const operand last = detail::slot_of<Backend>(array, t);
      for (int r = first; r < end; ++r) positions.set(table.index(r), last, r);
    });
    positions.gather(b, c);
  }
  template <class Backend>
  static std::ptrdiff_t scratch(const call_context& c) {
    return row_scatter::scratch(c);
  }
};

template <>
struct call_kernel<operators::last_rnn_memory_gradient> {
  static constexpr bool launches = true;
  template <class Backend>
  static void launch(Backend& b, const call_context& c) {
    const operand d = c.input(1), array = c.output(0);
    const detail::device_rank_table table(c, 0);
    detail::each_length(table.on_host, [&](int first, int end, int t) {
      if (!detail::array_of<Backend>(array).holds(t)) {
        const int rows = t == 0 ? table.on_host.count() : table.on_host.alive(t - 1);
        clear_rows(b, detail::new_slot<Backend>(array, t, rows), 0);
      }
      detail::add_rows(b, c, d, detail::rows_from(detail::slot_of<Backend>(array, t), first),
                       end - first, table.ranks(first));
    });
  }
};

template <>
struct call_kernel<operators::fill_constant_batch_size_like> {
  static constexpr bool launches = true;
  template <class Backend>
  static void launch(Backend& b, const call_context& c) {
    c.set_rows(c.output(0).domain, c.input(0).rows);
    fill(b, c.output(0), c.number(2));
  }
};

}}}  // namespace lamina::engine::cuda
