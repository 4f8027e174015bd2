// SPDX-License-Identifier: Apache-2.0
// lamina/operators/control/split_merge/cpu.hpp - kernels that split and merge rows or whole
// sequences by a mask, or select one of several variables by an index.
#pragma once

#include <lamina/core/config.hpp>

#include <lamina/engine/cpu/memory/label.hpp>
#include <lamina/engine/cpu/memory/row_parts.hpp>
#include <lamina/operators/control/split_merge/definition.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace engine::cpu {

namespace detail {

/// A mask with one truth value per row. A number other than 0 counts as true.
struct row_mask {
  operand values;

  bool operator[](int row) const {
    return values.type == dtype::boolean
               ? *values.row<const bool>(row)
               : load_as<bool>(values.data, values.type, row * values.stride);
  }
};

}  // namespace detail

template <>
struct call_kernel<operators::split_lod_tensor> {
  template <class Real = float>
  LAMINA_KERNEL static void run(const call_context& c);
};

template <>
struct call_kernel<operators::merge_lod_tensor> {
  template <class Real = float>
  LAMINA_KERNEL static void run(const call_context& c);

 private:
  [[noreturn]] LAMINA_COLD static void fail_rows(const call_context& c, int found, int expected) {
    fail(c, {"expected ", expected, " rows for the entries of the mask, found ", found});
  }
  static void merge_rows(const operand (&sides)[2], const detail::row_mask& mask,
                         const operand& out) {
    const row_copier copy[] = {{sides[0], out}, {sides[1], out}};
    int next[2] = {0, 0};
    for (int i = 0; i < mask.values.rows; ++i) {
      const int side = mask[i] ? 1 : 0;
      if (sides[side])
        copy[side](next[side]++, i);
      else
        clear_block(out, i, 1);
    }
  }
  /// Fails unless input `side` has as many rows or sequences as the mask has entries that select
  /// this input.
  static void require_entries(const call_context& c, int side, int levels) {
    const operand from = c.input(side);
    if (!is_given(from)) return;
    const detail::row_mask mask{c.input(1)};
    int entries = 0;
    for (int i = 0; i < mask.values.rows; ++i) entries += mask[i] == (side == 2) ? 1 : 0;
    const int found = levels == 0 ? from.rows : c.rows_in(domain_above(c, from.domain, levels));
    if (found != entries) fail_rows(c, found, entries);
  }
};

namespace detail {

/// Returns the value of Mask, which is the index of one of `count` variables. Fails if the index is
/// out of range.
inline int chosen_variable(const call_context& c, const operand& mask, int count) {
  const std::int64_t i = integer_in(mask, 0, 0);
  if (i < 0 || i >= count) fail_range(c, "mask", i, 0, count);
  return static_cast<int>(i);
}

/// Copies input `in` of slot 0 to output `out`, which gets as many rows as the input.
inline void take_whole(const call_context& c, int in, int out) {
  if (c.input(0, in).domain != c.output(0, out).domain)
    c.set_rows(c.output(0, out), c.input(0, in).rows);
  const operand x = c.input(0, in), y = c.output(0, out);
  if (!y) return;
  if (x.rows != y.rows) fail(c, {"expected ", y.rows, " rows, found ", x.rows});
  copy_block(x, 0, y, 0, x.rows);
}

}  // namespace detail

template <>
struct call_kernel<operators::select_input> {
  template <class Real = float>
  LAMINA_KERNEL static void run(const call_context& c);
};

template <>
struct call_kernel<operators::select_output> {
  template <class Real = float>
  LAMINA_KERNEL static void run(const call_context& c);
};

#if LAMINA_DEFINES

template <class Real>
void call_kernel<operators::split_lod_tensor>::run(const call_context& c) {
  const operand x = c.input(0);
  const int entries = c.input(1).rows;
  const int levels = levels_below_mask(c, x.domain, c.integer(0));
  const int found = levels == 0 ? x.rows : c.rows_in(domain_above(c, x.domain, levels));
  if (found != entries)
    fail(c, {"expected as many rows or sequences as entries of the mask, ", entries, ", found ",
             found});
  for (int side = 0; side < 2; ++side) {
    if (!is_given(c.output(side))) continue;
    choose_parts(c, 0, side, levels, [&c, truth = side == 0](auto&& take) {
      const detail::row_mask mask{c.input(1)};
      for (int i = 0; i < mask.values.rows; ++i)
        if (mask[i] == truth) take(i);
    });
  }
}
LAMINA_INSTANCE(void call_kernel<operators::split_lod_tensor>::run<float>(const call_context&))
LAMINA_INSTANCE(void call_kernel<operators::split_lod_tensor>::run<double>(const call_context&))

template <class Real>
void call_kernel<operators::merge_lod_tensor>::run(const call_context& c) {
  const int levels = levels_below_mask(c, c.output(0).domain, c.integer(0));
  for (int side = 2; side < 4; ++side) require_entries(c, side, levels);
  if (c.input(0).domain != c.output(0).domain) {
    int made_of[2];
    for (int side = 0; side < 2; ++side)
      made_of[side] = is_given(c.input(3 - side)) ? c.input(3 - side).domain : -1;
    make_merged_rows(c, c.output(0).domain, made_of, levels, c.input(1).rows,
                     [&c] { return detail::row_mask{c.input(1)}; });
  }
  const operand out = c.output(0);
  const operand sides[] = {c.input(3), c.input(2)};
  const detail::row_mask mask{c.input(1)};
  if (levels == 0) return merge_rows(sides, mask, out);
  int next[2] = {0, 0};
  for (int i = 0; i < mask.values.rows; ++i) {
    const int side = mask[i] ? 1 : 0;
    const int to = first_below(c, out.domain, levels, 0, i);
    const int rows = first_below(c, out.domain, levels, 0, i + 1) - to;
    const operand& from = sides[side];
    if (!from) {
      clear_block(out, to, rows);
      continue;
    }
    const int begin = next[side];
    next[side] += rows;
    if (next[side] > from.rows) fail_rows(c, from.rows, next[side]);
    copy_block(from, begin, out, to, rows);
  }
}
LAMINA_INSTANCE(void call_kernel<operators::merge_lod_tensor>::run<float>(const call_context&))
LAMINA_INSTANCE(void call_kernel<operators::merge_lod_tensor>::run<double>(const call_context&))

template <class Real>
void call_kernel<operators::select_input>::run(const call_context& c) {
  detail::take_whole(c, detail::chosen_variable(c, c.input(1), c.input_count(0)), 0);
}
LAMINA_INSTANCE(void call_kernel<operators::select_input>::run<float>(const call_context&))
LAMINA_INSTANCE(void call_kernel<operators::select_input>::run<double>(const call_context&))

template <class Real>
void call_kernel<operators::select_output>::run(const call_context& c) {
  const int i = detail::chosen_variable(c, c.input(1), c.output_count(0));
  if (is_given(c.output(0, i))) detail::take_whole(c, 0, i);
}
LAMINA_INSTANCE(void call_kernel<operators::select_output>::run<float>(const call_context&))
LAMINA_INSTANCE(void call_kernel<operators::select_output>::run<double>(const call_context&))

#endif  // LAMINA_DEFINES

}}}  // namespace lamina::engine::cpu
