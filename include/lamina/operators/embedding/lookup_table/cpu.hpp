// SPDX-License-Identifier: Apache-2.0
// lamina/operators/embedding/lookup_table/cpu.hpp - kernels of lookup_table, which copies the rows
// of an embedding table that ids select.
#pragma once

#include <lamina/core/config.hpp>

#include <algorithm>

#include <lamina/engine/cpu/gemm/gemm_block.hpp>
#include <lamina/engine/cpu/gemm/panel.hpp>
#include <lamina/engine/cpu/memory/label.hpp>
#include <lamina/engine/cpu/memory/selected_rows.hpp>
#include <lamina/engine/cpu/schedule/call_context.hpp>
#include <lamina/engine/cpu/vector/row_math.hpp>
#include <lamina/operators/embedding/lookup_table/definition.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace engine::cpu {

#if LAMINA_DEFINES

namespace detail {

/// Calls f(offset in memory, first column, number of columns) for each contiguous slice of row k of
/// a matrix, which may be stored in panels.
template <class Real, class F>
LAMINA_INLINE void for_each_part(const operand& table, std::int64_t k, F&& f) {
  if (!table.panel) {
    f(static_cast<std::ptrdiff_t>(k) * table.stride, 0, table.columns);
    return;
  }
  for (int first = 0; first < table.columns; first += panel_width_in<Real>) {
    const int width = width_of_panel<Real>(table.columns, first);
    f(offset_of_panel(table.rows, first) + static_cast<std::ptrdiff_t>(k) * width, first,
      (std::min)(width, table.columns - first));
  }
}

/// Calls f(id, slice) for each element of Ids or, if the id equals `padding`, skipped(slice). The
/// slice is the entry of `lines` that belongs to the element of Ids.
template <class Real, class F, class G>
void for_each_id(const call_context& c, const operand& table, const operand& ids,
                 const operand& lines, std::int64_t padding, F&& f, G&& skipped) {
  for (int r = 0; r < ids.rows; ++r)
    for (int o = 0; o < ids.columns; ++o) {
      const std::int64_t id = integer_in(ids, r, o);
      if (id < 0 || id >= table.rows) fail_range(c, "id", id, r, table.rows, ids);
      Real* line = lines.row<Real>(r) + static_cast<std::ptrdiff_t>(o) * table.columns;
      if (id == padding)
        skipped(line);
      else
        f(id, line);
    }
}

}  // namespace detail

#endif  // LAMINA_DEFINES

template <>
struct call_kernel<operators::lookup_table> {
  template <class Real = float>
  LAMINA_KERNEL static void run(const call_context& c);
};

template <>
struct call_kernel<gradient_of<operators::lookup_table>> {
  /// Returns the number of elements that the memory of the table holds, including padding.
  static std::ptrdiff_t numbers_of(const operand& table) {
    return table.panel ? panels_floats(table.rows, table.columns)
                       : static_cast<std::ptrdiff_t>(table.rows) * table.stride;
  }
  /// Whether a sum may have so many addends that rounding errors matter. If so, the kernel corrects
  /// the rounding error of each addition in the next one.
  static bool carries(const operand& ids) {
    return static_cast<std::int64_t>(ids.rows) * ids.columns > detail::longest_chain;
  }
  template <class Real = float>
  LAMINA_KERNEL static std::ptrdiff_t scratch(const call_context& c);
  template <class Real = float>
  LAMINA_KERNEL static void run(const call_context& c);
};

template <>
struct call_kernel<operators::lookup_table_rows_gradient> {
  /// Reserves memory for the rows of the output, because their number is known when scratch memory
  /// is computed. Returns the size of scratch memory, which is 0 unless rounding errors are
  /// corrected (see carries()).
  template <class Real = float>
  LAMINA_KERNEL static std::ptrdiff_t scratch(const call_context& c);
  static bool carries(const operand& ids) {
    return call_kernel<gradient_of<operators::lookup_table>>::carries(ids);
  }
  template <class Real = float>
  LAMINA_KERNEL static void run(const call_context& c);
};

#if LAMINA_DEFINES

template <class Real>
void call_kernel<operators::lookup_table>::run(const call_context& c) {
  const operand table = c.input(0), ids = c.input(1), out = c.output(0);
  require_real<Real>(c, table);
  const Real* from = table.row<const Real>(0);
  detail::for_each_id<Real>(
      c, table, ids, out, static_cast<std::int64_t>(c.number(2)),
      [&](std::int64_t id, Real* line) {
        detail::for_each_part<Real>(table, id, [&](std::ptrdiff_t at, int column, int n) {
          std::memcpy(line + column, from + at, static_cast<std::size_t>(n) * sizeof(Real));
        });
      },
      [&](Real* line) { std::fill(line, line + table.columns, Real(0)); });
}
LAMINA_INSTANCE(void call_kernel<operators::lookup_table>::run<float>(const call_context&))
LAMINA_INSTANCE(void call_kernel<operators::lookup_table>::run<double>(const call_context&))

template <class Real>
std::ptrdiff_t call_kernel<gradient_of<operators::lookup_table>>::scratch(const call_context& c) {
  const operand dw = c.output(0);
  return dw && carries(c.input(1)) ? in_floats<Real>(numbers_of(dw)) : 0;
}
LAMINA_INSTANCE(std::ptrdiff_t call_kernel<gradient_of<operators::lookup_table>>::scratch<float>(
    const call_context&))
LAMINA_INSTANCE(std::ptrdiff_t call_kernel<gradient_of<operators::lookup_table>>::scratch<double>(
    const call_context&))

template <class Real>
void call_kernel<gradient_of<operators::lookup_table>>::run(const call_context& c) {
  const operand ids = c.input(1), grad = c.input(2), dw = c.output(0);
  if (!dw) return;
  const std::size_t bytes = static_cast<std::size_t>(numbers_of(dw)) * sizeof(Real);
  if (dw.panel)
    std::memset(dw.data, 0, bytes);
  else
    clear(dw);
  Real* const to = dw.row<Real>(0);
  if (carries(ids)) {
    Real* const rest = numbers_at<Real>(c.scratch());
    std::memset(rest, 0, bytes);
    return detail::for_each_id<Real>(
        c, dw, ids, grad, static_cast<std::int64_t>(c.number(2)),
        [&](std::int64_t id, const Real* line) {
          detail::for_each_part<Real>(dw, id, [&](std::ptrdiff_t at, int column, int n) {
            add_carrying(line + column, n, to + at, rest + at);
          });
        },
        [](const Real*) {});
  }
  detail::for_each_id<Real>(
      c, dw, ids, grad, static_cast<std::int64_t>(c.number(2)),
      [&](std::int64_t id, const Real* line) {
        detail::for_each_part<Real>(dw, id, [&](std::ptrdiff_t at, int column, int n) {
          for (int j = 0; j < n; ++j) to[at + j] += line[column + j];
        });
      },
      [](const Real*) {});
}
LAMINA_INSTANCE(
    void call_kernel<gradient_of<operators::lookup_table>>::run<float>(const call_context&))
LAMINA_INSTANCE(
    void call_kernel<gradient_of<operators::lookup_table>>::run<double>(const call_context&))

template <class Real>
std::ptrdiff_t call_kernel<operators::lookup_table_rows_gradient>::scratch(const call_context& c) {
  const operand table = c.input(0), ids = c.input(1), out = c.output(0);
  if (!out) return 0;
  const std::size_t most =
      (std::min)(static_cast<std::size_t>(ids.rows) * static_cast<std::size_t>(ids.columns),
                 static_cast<std::size_t>(table.rows));
  rows_of<Real>(out).reserve(most, table.columns);
  if (!carries(ids)) return 0;
  return in_floats<Real>(static_cast<std::ptrdiff_t>(most) * padded(table.columns));
}
LAMINA_INSTANCE(std::ptrdiff_t call_kernel<operators::lookup_table_rows_gradient>::scratch<float>(
    const call_context&))
LAMINA_INSTANCE(std::ptrdiff_t call_kernel<operators::lookup_table_rows_gradient>::scratch<double>(
    const call_context&))

template <class Real>
void call_kernel<operators::lookup_table_rows_gradient>::run(const call_context& c) {
  const operand table = c.input(0), ids = c.input(1), grad = c.input(2), out = c.output(0);
  if (!out) return;
  basic_selected_rows<Real>& rows = rows_of<Real>(out);
  rows.begin(table.columns);
  if (carries(ids)) {
    Real* const rest = numbers_at<Real>(c.scratch());
    return detail::for_each_id<Real>(
        c, table, ids, grad, static_cast<std::int64_t>(c.number(2)),
        [&](std::int64_t id, const Real* line) {
          rows.add_carrying(static_cast<int>(id), line, rest);
        },
        [](const Real*) {});
  }
  detail::for_each_id<Real>(
      c, table, ids, grad, static_cast<std::int64_t>(c.number(2)),
      [&](std::int64_t id, const Real* line) { rows.add(static_cast<int>(id), line); },
      [](const Real*) {});
}
LAMINA_INSTANCE(
    void call_kernel<operators::lookup_table_rows_gradient>::run<float>(const call_context&))
LAMINA_INSTANCE(
    void call_kernel<operators::lookup_table_rows_gradient>::run<double>(const call_context&))

#endif  // LAMINA_DEFINES

}}}  // namespace lamina::engine::cpu
