// SPDX-License-Identifier: Apache-2.0
// lamina/operators/shape/query/cuda.cuh - shape, is_empty and where_index, which tell what is known
// of a variable only during a run, and range.
#pragma once

#include <lamina/core/config.hpp>

#include <cmath>
#include <cstddef>
#include <cstdint>

#include <lamina/engine/cuda/body/chosen_elements.cuh>
#include <lamina/engine/cuda/body/part_copy.cuh>
#include <lamina/engine/cuda/schedule/dynamic_sequences.hpp>
#include <lamina/operators/fill/cuda.cuh>
#include <lamina/operators/shape/query/definition.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace engine::cuda {

namespace detail {

/// Writes the numbers Start, Start + Step, ... as integers or as floating-point numbers.
struct range_body {
  struct arguments {
    argument_view start, end, step, to;
    fault_word* fault;
    int group, count;
  };
  static LAMINA_INLINE LAMINA_FN void run(const arguments& a, int i) {
    const double first = load_number(a.start.data, a.start.type, 0);
    const double by = load_number(a.step.data, a.step.type, 0);
    if (i == 0) {
      const double last = load_number(a.end.data, a.end.type, 0);
      if (by == 0 || ceil_of((last - first) / by) != static_cast<double>(a.count))
        report_fault(a.fault, a.group, 0);
    }
    int column = i;
    const int r = column / a.to.columns;
    column -= r * a.to.columns;
    store_number(a.to.data, a.to.type, r * a.to.stride + column, first + i * by);
  }

 private:
  static LAMINA_INLINE LAMINA_FN double ceil_of(double x) {
    const double whole = static_cast<double>(static_cast<std::int64_t>(x));
    return whole < x ? whole + 1 : whole;
  }
};

/// Counts the elements of each row that are not 0.
struct row_count_lines {
  struct arguments {
    argument_view of;
    int* to;
    int lines, width, count;
  };
  template <class Team>
  static LAMINA_INLINE LAMINA_FN void line(const arguments& a, int r, const Team& team) {
    int n = 0;
    for (int j = team.rank(); j < a.of.columns; j += team.size())
      n += holds(a.of, r * a.of.columns + j) ? 1 : 0;
    n = sum_of(team, n);
    if (team.rank() == 0) a.to[r] = n;
  }
};

/// Writes the coordinates of each element that `order` lists, one coordinate per dimension.
struct where_body {
  struct arguments {
    const int* order;
    std::int64_t* to;
    std::ptrdiff_t stride;
    std::int64_t first_row;
    int rank, extent[array_layout::most], columns;
    int count;
  };
  static LAMINA_INLINE LAMINA_FN void run(const arguments& a, int i) {
    const int row = a.order[i] / a.columns;
    int rest = a.order[i] % a.columns;
    std::int64_t* const to = a.to + i * a.stride;
    for (int d = a.rank; --d > 0; rest /= a.extent[d]) to[d] = rest % a.extent[d];
    to[0] = a.first_row + row;
  }
};

/// Returns the number in input `slot`. The host waits until it has been read from the device.
inline double number_on_device(const call_context& c, int slot) {
  const operand o = c.input(slot);
  std::uint64_t word = 0;
  c.run.reader->read(c.run.reader->machine, &word, o.data,
                     static_cast<std::size_t>(size_of(o.type)));
  return load_number(&word, o.type, 0);
}
[[noreturn]] LAMINA_COLD inline void fail_range_of(const call_context& c, int) {
  const double by = number_on_device(c, 2);
  const double count =
      by == 0 ? 0 : std::ceil((number_on_device(c, 1) - number_on_device(c, 0)) / by);
  fail(c, {"expected ", layout_of(c.output(0)).size(),
           " numbers, found a start, an end and a step of ", static_cast<float>(count)});
}

}  // namespace detail

template <>
struct call_kernel<operators::shape> {
  static constexpr bool launches = true;
  template <class Backend>
  static void launch(Backend& b, const call_context& c) {
    const array_layout x = layout_of(c.input(0));
    const operand out = c.output(0);
    if (out)
      detail::give_numbers<std::int64_t>(
          b, out, x.rank, [&](int d) { return static_cast<std::int64_t>(x.extent[d]); });
  }
};

template <>
struct call_kernel<operators::is_empty> {
  static constexpr bool launches = true;
  template <class Backend>
  static void launch(Backend& b, const call_context& c) {
    if (const operand out = c.output(0)) fill(b, out, layout_of(c.input(0)).size() == 0 ? 1 : 0);
  }
};

template <>
struct call_kernel<operators::range> {
  static constexpr bool launches = true;
  static constexpr checked_input checked{.slot = 2, .tell = detail::fail_range_of};
  template <class Backend>
  static void launch(Backend& b, const call_context& c) {
    if (const operand out = c.output(0))
      b.template elements<detail::range_body>({c.in(0), c.in(1), c.in(2), c.out(0), c.run.fault,
                                               c.number_of_group, out.rows * out.columns});
  }
};

/// The host waits until the device has counted the elements of each row that are not 0, because the
/// number of rows of Out follows from the counts.
template <>
struct call_kernel<operators::where_index> {
  static constexpr bool launches = true;
  template <class Backend>
  static void launch(Backend& b, const call_context& c) {
    const int rows = c.input(0).rows;
    std::vector<int> found(static_cast<std::size_t>(rows));
    int* const counts = reinterpret_cast<int*>(c.run.scratch);
    b.template lines<team_lines<detail::row_count_lines>>(
        {c.in(0), counts, rows, c.input(0).columns, rows});
    if (rows > 0)
      c.run.reader->read(c.run.reader->machine, found.data(), counts, found.size() * sizeof(int));
    const int all = make_sequences(host_rows(c), c.output(0).domain, rows,
                                   [&](int r) { return found[static_cast<std::size_t>(r)]; });
    const operand x = c.input(0), out = c.output(0);
    if (!out || all == 0) return;
    scratch_arena arena(c.run.scratch);
    const array_layout of = layout_of(x);
    detail::where_body::arguments a{};
    a.order = chosen_elements::of(b, c.in(0), true, arena).numbers;
    a.to = out.row<std::int64_t>(0);
    a.stride = out.stride;
    a.first_row = x.domain != 0 ? c.run.first_row[x.domain] : 0;
    a.rank = of.rank;
    for (int d = 0; d < of.rank; ++d) a.extent[d] = static_cast<int>(of.extent[d]);
    a.columns = x.columns;
    a.count = all;
    b.template elements<detail::where_body>(a);
  }
  template <class Backend>
  static std::ptrdiff_t scratch(const call_context& c) {
    return chosen_elements::scratch<Backend>(c.in(0));
  }
};

}}}  // namespace lamina::engine::cuda
