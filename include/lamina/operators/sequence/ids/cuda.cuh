// SPDX-License-Identifier: Apache-2.0
// lamina/operators/sequence/ids/cuda.cuh - operators on sequences of ids: sequence_enumerate,
// sequence_erase, sequence_scatter.
#pragma once

#include <lamina/core/config.hpp>

#include <lamina/engine/cuda/schedule/dynamic_sequences.hpp>
#include <lamina/operators/sequence/cuda.cuh>
#include <lamina/operators/sequence/ids/definition.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace engine::cuda {

namespace detail {

/// Copies the windows of each sequence. Writes no elements beyond the end of the sequence: the
/// caller has filled them with the pad value.
struct sequence_enumerate_lines {
  using arguments = sequence_arguments;
  template <class Team>
  static LAMINA_INLINE LAMINA_FN void line(const arguments& a, int s, const Team& team) {
    const int begin = a.all.begin(s), end = a.all.end(s);
    for (int i = team.rank(); i < (end - begin) * a.columns.divisor(); i += team.size()) {
      int w = i;
      const int r = begin + a.columns.divide(w);
      if (w < end - r)
        copy_element(a.in[0].data, (r + w) * a.in[0].stride, a.out[0].data, r * a.out[0].stride + w,
                     a.bytes);
    }
  }
};

struct scatter_arguments {
  sequence_view all;
  argument_view x, ids, updates, out;
  fault_word* fault;
  int group;
  int lines, width, count;
};
LAMINA_INLINE LAMINA_FN std::int64_t id_in(const scatter_arguments& a, int r) {
  return load_integer(a.ids.data, a.ids.type, r * a.ids.stride);
}
/// Adds the updates to the elements. One thread adds all updates of an element, in the order of
/// Ids, so that the result is the same in each run.
struct sequence_scatter_lines {
  using arguments = scatter_arguments;
  template <class Team>
  static LAMINA_INLINE LAMINA_FN void line(const arguments& a, int s, const Team& team) {
    const int begin = a.all.begin(s), end = a.all.end(s);
    for (int j = team.rank(); j < a.x.columns; j += team.size()) {
      float sum = a.x.row<const float>(s)[j];
      for (int r = begin; r < end; ++r)
        if (id_in(a, r) == j) sum += *a.updates.row<const float>(r);
      a.out.row<float>(s)[j] = sum;
    }
  }
};
struct scatter_check_body {
  using arguments = scatter_arguments;
  static LAMINA_INLINE LAMINA_FN void run(const arguments& a, int r) {
    if (const std::int64_t id = id_in(a, r); id < 0 || id >= a.x.columns)
      report_fault(a.fault, a.group, r * a.ids.columns);
  }
};
struct sequence_scatter_grad_lines {
  using arguments = scatter_arguments;
  template <class Team>
  static LAMINA_INLINE LAMINA_FN void line(const arguments& a, int s, const Team& team) {
    for (int r = a.all.begin(s) + team.rank(); r < a.all.end(s); r += team.size()) {
      const std::int64_t id = id_in(a, r);
      if (id >= 0 && id < a.x.columns) *a.updates.row<float>(r) = a.x.row<const float>(s)[id];
    }
  }
};
template <class Kernel, class Backend>
void run_scatter(Backend& b, const call_context& c, scatter_arguments a, const operand& ids) {
  a.all = c.sequences(ids.domain);
  a.ids = view_of_operand(ids);
  a.lines = a.count = a.all.count;
  a.width = a.x.columns;
  if (a.lines > 0) b.template lines<team_lines<Kernel>>(a);
}

/// Copies each sequence of the input without some of its rows. `stays(ids, row, first row of its
/// sequence)` tells whether a row is kept; `ids` has the first element of each row.
template <class Backend, class Stays>
void keep_rows(Backend& b, const call_context& c, const Stays& stays) {
  const host_rows h(c);
  const operand x = c.input(0);
  const std::vector<std::int64_t> values = values_of(c, 0);
  const auto id = [&](int row) { return values[static_cast<std::size_t>(row * x.columns)]; };
  row_order order;
  make_sequences(h, c.output(0).domain, h.sequences(x.domain).count, [&](int s) {
    const sequence_rows all = h.sequences(x.domain);
    const int before = order.size();
    for (int r = all.begin(s); r < all.end(s); ++r)
      if (stays(id, r, all.begin(s))) order.add(r, 1);
    return order.size() - before;
  });
  move_rows<row_move::gather>(b, c.input(0), c.output(0), order.size(), order.copy_to_device(c));
}

}  // namespace detail

template <>
struct call_kernel<operators::sequence_enumerate> {
  static constexpr bool launches = true;
  template <class Backend>
  static void launch(Backend& b, const call_context& c) {
    const operand x = c.input(0), out = c.output(0);
    fill(b, out, c.number(1));
    detail::sequence_arguments a{};
    a.in[0] = view_of_operand(x);
    a.out[0] = view_of_operand(out);
    a.all = c.sequences(x.domain);
    a.columns = divider(out.columns);
    a.bytes = size_of(x.type);
    a.lines = a.count = a.all.count;
    a.width = a.lines > 0 ? x.rows / a.lines * out.columns : 0;
    if (a.lines > 0) b.template lines<team_lines<detail::sequence_enumerate_lines>>(a);
  }
};

template <>
struct call_kernel<operators::sequence_scatter> {
  static constexpr bool launches = true;
  static constexpr checked_input checked{1, "id"};
  template <class Backend>
  static void launch(Backend& b, const call_context& c) {
    const operand x = c.input(0), ids = c.input(1), updates = c.input(2);
    require_float(c, x);
    const int sequences = c.sequences(ids.domain).count;
    if (sequences != x.rows || updates.rows != ids.rows)
      fail(c, {"expected ", x.rows, " sequences of as many ids as updates, found ", sequences,
               " sequences, ", ids.rows, " ids and ", updates.rows, " updates"});
    detail::scatter_arguments a{};
    a.x = view_of_operand(x);
    a.updates = view_of_operand(updates);
    a.out = c.out(0);
    detail::run_scatter<detail::sequence_scatter_lines>(b, c, a, ids);
    a.ids = view_of_operand(ids);
    a.fault = c.run.fault;
    a.group = c.number_of_group;
    a.count = ids.rows;
    b.template elements<detail::scatter_check_body>(a);
  }
};
template <>
struct call_kernel<gradient_of<operators::sequence_scatter>> {
  static constexpr bool launches = true;
  template <class Backend>
  static void launch(Backend& b, const call_context& c) {
    const operand ids = c.input(0), d = c.input(1), dx = c.output(0), updates = c.output(1);
    if (dx) copy_elements(b, d, dx);
    if (!updates) return;
    detail::scatter_arguments a{};
    a.x = view_of_operand(d);
    a.updates = view_of_operand(updates);
    detail::run_scatter<detail::sequence_scatter_grad_lines>(b, c, a, ids);
  }
};

template <>
struct call_kernel<operators::sequence_erase> {
  static constexpr bool launches = true;
  template <class Backend>
  static void launch(Backend& b, const call_context& c) {
    detail::keep_rows(b, c, [&](const auto& id, int row, int) {
      for (int i = 0; i < c.list_size(0); ++i)
        if (id(row) == c.integer_at(0, i)) return false;
      return true;
    });
  }
  template <class Backend>
  static std::ptrdiff_t scratch(const call_context& c) {
    return row_order::scratch(c);
  }
};

}}}  // namespace lamina::engine::cuda
