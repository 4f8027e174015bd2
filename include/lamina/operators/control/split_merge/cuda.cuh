// SPDX-License-Identifier: Apache-2.0
// lamina/operators/control/split_merge/cuda.cuh - kernels that split and merge rows by a mask, or
// select one of several variables by an index. Only the device knows how many rows a mask selects,
// so the host waits for this number once per branch.
#pragma once

#include <lamina/core/config.hpp>

#include <lamina/engine/cuda/body/chosen_elements.cuh>
#include <lamina/engine/cuda/schedule/dynamic_sequences.hpp>
#include <lamina/operators/control/split_merge/definition.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace engine::cuda {

namespace detail {

/// Two lists of row numbers: the rows in which the mask, input 1, is true, and the rows in which it
/// is false.
struct mask_sides {
  chosen_elements of[2];

  template <class Backend>
  mask_sides(Backend& b, const call_context& c) {
    scratch_arena arena(c.run.scratch);
    for (int side = 0; side < 2; ++side)
      of[side] = chosen_elements::of(b, c.in(1), side == 0, arena);
  }
  template <class Backend>
  static std::ptrdiff_t scratch(const call_context& c) {
    return 2 * chosen_elements::scratch<Backend>(c.in(1));
  }
  /// Returns the number of rows in which the mask is true. The host waits until the device has
  /// counted them.
  template <class Backend>
  static int count_true(Backend& b, const call_context& c) {
    int n = 0;
    if (c.input(1).rows == 0) return n;
    scratch_arena arena(c.run.scratch);
    c.run.reader->read(c.run.reader->machine, &n,
                       chosen_elements::of(b, c.in(1), true, arena).count, sizeof(n));
    return n;
  }
  row_map rows(int side) const {
    row_map m;
    m.order = of[side].numbers;
    return m;
  }
};

}  // namespace detail

template <>
struct call_kernel<operators::split_lod_tensor> {
  static constexpr bool launches = true;
  template <class Backend>
  static void launch(Backend& b, const call_context& c) {
    const int n = c.input(1).rows, from = c.input(0).domain;
    const int levels = levels_below_mask(c, from, c.integer(0));
    const int found = levels == 0 ? c.input(0).rows : c.rows_in(domain_above(c, from, levels));
    if (found != n)
      fail(c,
           {"expected as many rows or sequences as entries of the mask, ", n, ", found ", found});
    if (levels > 0) return split_sequences(b, c, levels);
    int chosen = -1;
    for (int side = 0; side < 2; ++side) {
      const operand out = c.output(side);
      if (!is_given(out) || c.knows_rows(out.domain)) continue;
      if (chosen < 0) chosen = detail::mask_sides::count_true(b, c);
      c.set_rows(out.domain, side == 0 ? chosen : n - chosen);
    }
    const detail::mask_sides sides(b, c);
    for (int side = 0; side < 2; ++side) {
      const operand out = c.output(side);
      if (!is_given(out) || out.rows == 0) continue;
      move_rows<row_move::gather>(b, c.input(0), out, out.rows, sides.rows(side));
    }
  }
  template <class Backend>
  static std::ptrdiff_t scratch(const call_context& c) {
    return detail::mask_sides::scratch<Backend>(c) + row_order::scratch(c);
  }

 private:
  template <class Backend>
  static void split_sequences(Backend& b, const call_context& c, int levels) {
    const std::vector<std::int64_t> mask = values_of(c, 1);
    for (int side = 0; side < 2; ++side)
      if (is_given(c.output(side)))
        choose_parts(b, c, 0, side, levels, [&](auto&& take) {
          for (std::size_t i = 0; i < mask.size(); ++i)
            if ((mask[i] != 0) == (side == 0)) take(static_cast<int>(i));
        });
  }
};

template <>
struct call_kernel<operators::merge_lod_tensor> {
  static constexpr bool launches = true;
  template <class Backend>
  static void launch(Backend& b, const call_context& c) {
    const int n = c.input(1).rows;
    if (const int levels = levels_below_mask(c, c.output(0).domain, c.integer(0)); levels > 0)
      return merge_sequences(b, c, levels);
    if (c.input(0).domain != c.output(0).domain) c.set_rows(c.output(0).domain, n);
    const operand sides[] = {c.input(2), c.input(3)}, out = c.output(0);
    const bool given[] = {is_given(sides[0]), is_given(sides[1])};
    const detail::mask_sides chosen(b, c);
    const int yes = given[0] ? sides[0].rows : n - sides[1].rows;
    if (given[0] && given[1] && sides[0].rows + sides[1].rows != n)
      fail(c, {"expected ", n, " rows for the entries of the mask, found ",
               sides[0].rows + sides[1].rows});
    for (int side = 0; side < 2; ++side) {
      const row_map map = chosen.rows(side);
      const int rows = side == 0 ? yes : n - yes;
      if (given[side])
        move_rows<row_move::scatter>(b, sides[side], out, rows, map);
      else
        move_rows<row_move::scatter_zeros>(b, out, out, rows, map);
    }
  }
  template <class Backend>
  static std::ptrdiff_t scratch(const call_context& c) {
    return detail::mask_sides::scratch<Backend>(c) + row_order::scratch(c);
  }

 private:
  /// Merges whole sequences. Input 2 holds the sequences for which the mask is true, input 3 the
  /// others.
  template <class Backend>
  static void merge_sequences(Backend& b, const call_context& c, int levels) {
    const host_rows h(c);
    const std::vector<std::int64_t> mask = values_of(c, 1);
    int domains[2], entries[2] = {0, 0};
    for (const std::int64_t m : mask) ++entries[m != 0 ? 1 : 0];
    for (int side = 0; side < 2; ++side) {
      const operand from = c.input(3 - side);
      domains[side] = is_given(from) ? from.domain : -1;
      if (domains[side] < 0) continue;
      const int found = c.rows_in(domain_above(c, from.domain, levels));
      if (found != entries[side]) fail_rows(c, found, entries[side]);
    }
    if (c.input(0).domain != c.output(0).domain)
      make_merged_rows(h, c.output(0).domain, domains, levels, static_cast<int>(mask.size()),
                       [&] { return mask.data(); });
    const operand out = c.output(0);
    for (int side = 0; side < 2; ++side) {
      const row_order order = order_of_parts(h, out.domain, levels, [&](auto&& take) {
        for (std::size_t i = 0; i < mask.size(); ++i)
          if ((mask[i] != 0) == (side == 1)) take(static_cast<int>(i));
      });
      const operand from = c.input(3 - side);
      if (domains[side] < 0)
        move_rows<row_move::scatter_zeros>(b, out, out, order.size(), order.copy_to_device(c));
      else if (order.size() > from.rows)
        fail_rows(c, from.rows, order.size());
      else
        move_rows<row_move::scatter>(b, from, out, order.size(), order.copy_to_device(c));
    }
  }
  [[noreturn]] LAMINA_COLD static void fail_rows(const call_context& c, int found, int expected) {
    fail(c, {"expected ", expected, " rows for the entries of the mask, found ", found});
  }
};

namespace detail {

/// Copies rows if a number in device memory equals `wanted`; otherwise changes nothing.
struct chosen_rows_body {
  struct arguments {
    const void* from;
    void* to;
    argument_view number;
    std::int64_t wanted;
    std::ptrdiff_t from_stride, to_stride;
    divider columns;
    int bytes, count;
  };
  static LAMINA_INLINE LAMINA_FN void run(const arguments& a, int i) {
    if (load_integer(a.number.data, a.number.type, 0) != a.wanted) return;
    int column = i;
    const int row = a.columns.divide(column);
    copy_element(a.from, row * a.from_stride + column, a.to, row * a.to_stride + column, a.bytes);
  }
};

/// Copies input `in` of slot 0 to output `out`, which gets as many rows as the input, if the mask
/// equals `number`.
template <class Backend>
void take_whole(Backend& b, const call_context& c, int in, int out, int number) {
  if (c.input(0, in).domain != c.output(0, out).domain)
    c.set_rows(c.output(0, out).domain, c.input(0, in).rows);
  const operand x = c.input(0, in), y = c.output(0, out);
  if (!y) return;
  if (x.rows != y.rows) fail(c, {"expected ", y.rows, " rows, found ", x.rows});
  b.template elements<chosen_rows_body>({x.data, y.data, c.in(1), number, x.stride, y.stride,
                                         divider(y.columns), size_of(y.type), y.rows * y.columns});
}

}  // namespace detail

template <>
struct call_kernel<operators::select_input> {
  static constexpr bool launches = true;
  template <class Backend>
  static void launch(Backend& b, const call_context& c) {
    for (int i = 0; i < c.input_count(0); ++i) detail::take_whole(b, c, i, 0, i);
  }
};

template <>
struct call_kernel<operators::select_output> {
  static constexpr bool launches = true;
  template <class Backend>
  static void launch(Backend& b, const call_context& c) {
    for (int i = 0; i < c.output_count(0); ++i)
      if (is_given(c.output(0, i))) detail::take_whole(b, c, 0, i, i);
  }
};

}}}  // namespace lamina::engine::cuda
