// SPDX-License-Identifier: Apache-2.0
// lamina/operators/embedding/gather/cuda.cuh - kernels of gather, scatter and multiplex, which copy
// the rows that an index selects.
#pragma once

#include <lamina/core/config.hpp>

#include <cstdint>

#include <lamina/engine/cuda/body/element_loops.cuh>
#include <lamina/engine/cuda/body/part_copy.cuh>
#include <lamina/operators/embedding/gather/definition.hpp>
#include <lamina/operators/embedding/lookup_table/common.hpp>
#include <lamina/operators/embedding/lookup_table/cuda.cuh>

namespace lamina { inline namespace LAMINA_ABI { namespace engine::cuda {

namespace detail {

struct entry_update_arguments : entry_arguments {
  dtype type;
  bool overwrites;
};

/// Writes the elements of the index as keys for the sort. Reports elements that are out of range.
struct scatter_key {
  using arguments = entry_update_arguments;
  using value = int;
  static LAMINA_INLINE LAMINA_FN int at(const arguments& a, int i) {
    if (a.chosen_by(i) < 0) report_fault(a.fault, a.group, i);
    return entry_key::at(a, i);
  }
};

/// Writes the entries of Out that have updates. Among equal keys, the team of the first one writes
/// the entry: the last update of the entry or, without `overwrite`, the sum of its updates in their
/// original order.
struct scatter_lines {
  using arguments = entry_update_arguments;
  template <class Team>
  static LAMINA_INLINE LAMINA_FN void line(const arguments& a, int i, const Team& team) {
    const int key = a.keys[i];
    if (key == a.entries || (i > 0 && a.keys[i - 1] == key)) return;
    int end = i + 1;
    while (end < a.lines && a.keys[end] == key) ++end;
    for (int j = team.rank(); j < a.size; j += team.size()) {
      const std::ptrdiff_t to = key * a.table_step + j;
      if (a.overwrites)
        copy_element(a.to, a.entry(a.positions[end - 1]) + j, a.table, to, a.bytes);
      else if (a.type == dtype::float32)
        static_cast<float*>(a.table)[to] = sum<float>(a, i, end, j);
      else if (is_floating(a.type))
        store_number(a.table, a.type, to, sum<double>(a, i, end, j));
      else
        store_integer(a.table, a.type, to, sum<std::int64_t>(a, i, end, j));
    }
  }

 private:
  template <class T>
  static LAMINA_INLINE LAMINA_FN T sum(const arguments& a, int begin, int end, int j) {
    T all = 0;
    for (int k = begin; k < end; ++k) {
      const std::ptrdiff_t at = a.entry(a.positions[k]) + j;
      if constexpr (__is_same(T, std::int64_t))
        all += load_integer(a.to, a.type, at);
      else if constexpr (__is_same(T, float))
        all += static_cast<const float*>(a.to)[at];
      else
        all += load_number(a.to, a.type, at);
    }
    return all;
  }
};

/// Computes the gradient of a scatter that overwrites. The gradient is 0 for overwritten entries of
/// X, and for updates that a later update has overwritten. `table` and `to` are the gradients of X
/// and of Updates; each may be null, and is then not computed.
struct scatter_grad_lines {
  using arguments = entry_update_arguments;
  template <class Team>
  static LAMINA_INLINE LAMINA_FN void line(const arguments& a, int i, const Team& team) {
    const int key = a.keys[i];
    if (key == a.entries) return;
    if (a.table == nullptr || (i > 0 && a.keys[i - 1] == key)) return;
    for (int j = team.rank(); j < a.size; j += team.size())
      static_cast<float*>(a.table)[key * a.table_step + j] = 0;
  }
};
struct scatter_update_grad_lines {
  struct arguments : entry_update_arguments {
    const float* grad;
    std::ptrdiff_t grad_step;
  };
  template <class Team>
  static LAMINA_INLINE LAMINA_FN void line(const arguments& a, int i, const Team& team) {
    const int key = a.keys[i];
    if (key == a.entries) return;
    const bool replaced = a.overwrites && i + 1 < a.lines && a.keys[i + 1] == key;
    float* const to = static_cast<float*>(a.to) + a.entry(a.positions[i]);
    for (int j = team.rank(); j < a.size; j += team.size())
      to[j] = replaced ? 0.0f : a.grad[key * a.grad_step + j];
  }
};

/// Copies the rows whose element of Ids is `which` from input `which` of multiplex to Out. With
/// Gradient, copies these rows from Out@GRAD to the gradient of the input, and sets the other rows
/// of this gradient to 0.
template <bool Gradient>
struct multiplex_body {
  struct arguments {
    argument_view ids;
    const void* from;
    void* to;
    std::ptrdiff_t from_stride, to_stride;
    divider columns;
    int which, choices, bytes;
    fault_word* fault;
    int group, count;
  };
  static LAMINA_INLINE LAMINA_FN void run(const arguments& a, int i) {
    int column = i;
    const int r = a.columns.divide(column);
    const std::int64_t chosen = a.ids.integer(r * a.ids.columns);
    if (!Gradient && a.which == 0 && column == 0 && (chosen < 0 || chosen >= a.choices))
      report_fault(a.fault, a.group, r * a.ids.columns);
    if (chosen == a.which)
      copy_element(a.from, r * a.from_stride + column, a.to, r * a.to_stride + column, a.bytes);
    else if (Gradient)
      zero_element(a.to, r * a.to_stride + column, a.bytes);
  }
};

template <bool Gradient, class Backend>
void choose_rows(Backend& b, const call_context& c, int which, int choices, const operand& from,
                 const operand& to) {
  b.template elements<multiplex_body<Gradient>>(
      {c.in(0), from.data, to.data, from.stride, to.stride, divider(to.columns), which, choices,
       size_of(to.type), c.run.fault, c.number_of_group, to.rows * to.columns});
}

}  // namespace detail

template <>
struct call_kernel<operators::scatter> {
  static constexpr checked_input checked{1, "index", chosen::row};
  static constexpr bool launches = true;
  template <class Backend>
  static void launch(Backend& b, const call_context& c) {
    const operand out = c.output(0);
    if (!out) return;
    copy_elements(b, c.input(0), out);
    detail::entry_update_arguments a = entries(c, out, c.input(2));
    if (a.lines == 0) return;
    detail::sort_entries<detail::scatter_key>(b, c, a);
    b.template lines<team_lines<detail::scatter_lines>>(a);
  }
  template <class Backend>
  static std::ptrdiff_t scratch(const call_context& c) {
    return detail::entry_sum_scratch<Backend>(c.input(1).rows * c.input(1).columns);
  }

  static detail::entry_update_arguments entries(const call_context& c, const operand& table,
                                                const operand& updates, int ids = 1) {
    detail::entry_update_arguments a{};
    static_cast<detail::entry_arguments&>(a) = detail::entries_of(c, c.input(ids), table, updates);
    a.type = table.type;
    a.overwrites = c.flag(0);
    return a;
  }
};
template <>
struct call_kernel<gradient_of<operators::scatter>> {
  static constexpr bool launches = true;
  template <class Backend>
  static void launch(Backend& b, const call_context& c) {
    const operand grad = c.input(2), dx = c.output(0), du = c.output(1);
    if (!dx && !du) return;
    require_float(c, grad);
    if (dx) copy_elements(b, grad, dx);
    using forward = call_kernel<operators::scatter>;
    detail::scatter_update_grad_lines::arguments a{};
    static_cast<detail::entry_update_arguments&>(a) = forward::entries(c, dx ? dx : grad, du, 0);
    if (a.lines == 0) return;
    detail::sort_entries<detail::entry_key>(b, c, a);
    if (dx) b.template lines<team_lines<detail::scatter_grad_lines>>(a);
    if (!du) return;
    a.grad = grad.row<const float>(0);
    a.grad_step = entry_layout(grad).step;
    b.template lines<team_lines<detail::scatter_update_grad_lines>>(a);
  }
  template <class Backend>
  static std::ptrdiff_t scratch(const call_context& c) {
    return detail::entry_sum_scratch<Backend>(c.input(0).rows * c.input(0).columns);
  }
};

template <>
struct call_kernel<operators::multiplex> {
  static constexpr checked_input checked{
      .slot = 0, .what = "id", .count = [](const call_context& c) { return c.input_count(1); }};
  static constexpr bool launches = true;
  template <class Backend>
  static void launch(Backend& b, const call_context& c) {
    const operand out = c.output(0);
    if (!out) return;
    const int choices = c.input_count(1);
    for (int i = 0; i < choices; ++i)
      detail::choose_rows<false>(b, c, i, choices, c.input(1, i), out);
  }
};
template <>
struct call_kernel<gradient_of<operators::multiplex>> {
  static constexpr bool launches = true;
  template <class Backend>
  static void launch(Backend& b, const call_context& c) {
    const int choices = c.output_count(0);
    for (int i = 0; i < choices; ++i)
      if (const operand dx = c.output(0, i))
        detail::choose_rows<true>(b, c, i, choices, c.input(1), dx);
  }
};

template <>
struct call_kernel<operators::gather> {
  static constexpr checked_input checked{1, "index", chosen::row};
  static constexpr bool launches = true;
  template <class Backend>
  static void launch(Backend& b, const call_context& c) {
    b.template lines<team_lines<detail::entry_lines>>(
        detail::entries_of(c, c.input(1), c.input(0), c.output(0)));
  }
};
template <>
struct call_kernel<gradient_of<operators::gather>> {
  static constexpr bool launches = true;
  template <class Backend>
  static void launch(Backend& b, const call_context& c) {
    const operand dx = c.output(0);
    if (dx) detail::add_entries_to(b, c, detail::entries_of(c, c.input(1), dx, c.input(2)), dx);
  }
  template <class Backend>
  static std::ptrdiff_t scratch(const call_context& c) {
    return detail::entry_sum_scratch<Backend>(c.input(1).rows * c.input(1).columns);
  }
};

}}}  // namespace lamina::engine::cuda
