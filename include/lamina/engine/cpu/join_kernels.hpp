// SPDX-License-Identifier: Apache-2.0
// lamina/engine/cpu/join_kernels.hpp - operators that join arrays and take them apart: concat,
// split, stack, slice, pad, expand.
#pragma once

#include <lamina/engine/cpu/fill_kernels.hpp>
#include <lamina/engine/cpu/part_copy.hpp>
#include <lamina/operators/concat.hpp>

namespace lamina::engine::cpu {

namespace detail {

/// Copies the part of `whole` that begins at `begin` along `axis` from or to `part`; returns where
/// the next one begins.
template <bool ToPart>
std::ptrdiff_t copy_along(const operand& whole, const operand& part, int axis,
                          std::ptrdiff_t begin) {
  const array_layout w = layout_of(whole), p = layout_of(part);
  const array_part in_whole{whole.data, begin * w.step[axis], w.step};
  const array_part in_part{part.data, 0, p.step};
  if constexpr (ToPart)
    copy_part(part.type, p.rank, p.extent, in_whole, in_part);
  else
    copy_part(part.type, p.rank, p.extent, in_part, in_whole);
  return begin + p.extent[axis];
}

/// The layout of an input of stack as one part of Y: with a dimension of one at `axis`.
inline array_layout unsqueezed(const array_layout& a, int axis) {
  array_layout l;
  for (int d = 0; d <= a.rank; ++d) {
    if (d == axis) l.push(1, 0);
    if (d < a.rank) l.push(a.extent[d], a.step[d]);
  }
  return l;
}

}  // namespace detail

template <>
struct call_kernel<concat> {
  template <class = void>
  static void run(const call_context& c) {
    const operand out = c.output(0);
    const int axis = dimension_of(c, c.integer(0), layout_of(out).rank);
    std::ptrdiff_t begin = 0;
    for (int i = 0; i < c.input_count(0); ++i)
      begin = detail::copy_along<false>(out, c.input(0, i), axis, begin);
  }
};

template <>
struct call_kernel<gradient_of<concat>> {
  template <class = void>
  static void run(const call_context& c) {
    const operand slope = c.input(1);
    const int axis = dimension_of(c, c.integer(0), layout_of(slope).rank);
    std::ptrdiff_t begin = 0;
    for (int i = 0; i < c.output_count(0); ++i) {
      const operand dx = c.output(0, i);
      if (dx)
        begin = detail::copy_along<true>(slope, dx, axis, begin);
      else
        begin += layout_of(c.input(0, i)).extent[axis];
    }
  }
};

template <>
struct call_kernel<split> {
  template <class = void>
  static void run(const call_context& c) {
    const operand in = c.input(0);
    const array_layout shape = layout_of(in);
    const int axis = dimension_of(c, c.integer(2), shape.rank);
    const int parts = c.output_count(0), sections = c.list_size(0);
    std::ptrdiff_t begin = 0;
    for (int i = 0; i < parts; ++i) {
      const operand out = c.output(0, i);
      if (out) detail::copy_along<true>(in, out, axis, begin);
      begin += sections > 0 ? c.integer_at(0, i) : shape.extent[axis] / parts;
    }
  }
};

template <>
struct call_kernel<gradient_of<split>> {
  template <class = void>
  static void run(const call_context& c) {
    const operand dx = c.output(0);
    if (!dx) return;
    const int axis = dimension_of(c, c.integer(2), layout_of(dx).rank);
    std::ptrdiff_t begin = 0;
    for (int i = 0; i < c.input_count(0); ++i)
      begin = detail::copy_along<false>(dx, c.input(0, i), axis, begin);
  }
};

template <>
struct call_kernel<stack> {
  template <class = void>
  static void run(const call_context& c) {
    const operand out = c.output(0);
    const array_layout y = layout_of(out);
    const int axis = dimension_of(c, c.integer(0), y.rank);
    for (int i = 0; i < c.input_count(0); ++i) {
      const operand in = c.input(0, i);
      const array_layout x = detail::unsqueezed(layout_of(in), axis);
      copy_part(in.type, x.rank, x.extent, {in.data, 0, x.step},
                {out.data, i * y.step[axis], y.step});
    }
  }
};

template <>
struct call_kernel<gradient_of<stack>> {
  template <class = void>
  static void run(const call_context& c) {
    const operand slope = c.input(0);
    const array_layout y = layout_of(slope);
    const int axis = dimension_of(c, c.integer(0), y.rank);
    for (int i = 0; i < c.output_count(0); ++i) {
      const operand dx = c.output(0, i);
      if (!dx) continue;
      const array_layout x = detail::unsqueezed(layout_of(dx), axis);
      copy_part(dx.type, x.rank, x.extent, {slope.data, i * y.step[axis], y.step},
                {dx.data, 0, x.step});
    }
  }
};

namespace detail {

/// Where the slice of an array of this layout begins, in elements.
inline std::ptrdiff_t slice_begin(const call_context& c, const array_layout& x) {
  std::ptrdiff_t at = 0;
  for (int i = 0; i < c.list_size(0); ++i) {
    const int d = dimension_of(c, c.integer_at(0, i), x.rank);
    const std::ptrdiff_t n = x.extent[d];
    std::ptrdiff_t start = c.integer_at(1, i);
    start = start < 0 ? std::max<std::ptrdiff_t>(start + n, 0) : std::min(start, n);
    at += start * x.step[d];
  }
  return at;
}
/// Where X begins inside of what pad made of it.
inline std::ptrdiff_t pad_begin(const call_context& c, const array_layout& y) {
  if (c.list_size(0) != 2 * y.rank)
    fail(c, {"expected ", 2 * y.rank, " paddings, found ", c.list_size(0)});
  std::ptrdiff_t at = 0;
  for (int d = 0; d < y.rank; ++d) at += c.integer_at(0, 2 * d) * y.step[d];
  return at;
}

}  // namespace detail

template <>
struct call_kernel<slice> {
  template <class = void>
  static void run(const call_context& c) {
    const operand in = c.input(0), out = c.output(0);
    const array_layout x = layout_of(in), y = layout_of(out);
    copy_part(in.type, y.rank, y.extent, {in.data, detail::slice_begin(c, x), x.step},
              {out.data, 0, y.step});
  }
};

template <>
struct call_kernel<gradient_of<slice>> {
  template <class = void>
  static void run(const call_context& c) {
    const operand slope = c.input(1), dx = c.output(0);
    if (!dx) return;
    clear(dx);
    const array_layout x = layout_of(dx), y = layout_of(slope);
    copy_part(dx.type, y.rank, y.extent, {slope.data, 0, y.step},
              {dx.data, detail::slice_begin(c, x), x.step});
  }
};

template <>
struct call_kernel<pad> {
  template <class = void>
  static void run(const call_context& c) {
    const operand in = c.input(0), out = c.output(0);
    const array_layout x = layout_of(in), y = layout_of(out);
    detail::fill(out, c.number(1));
    copy_part(in.type, x.rank, x.extent, {in.data, 0, x.step},
              {out.data, detail::pad_begin(c, y), y.step});
  }
};

template <>
struct call_kernel<gradient_of<pad>> {
  template <class = void>
  static void run(const call_context& c) {
    const operand slope = c.input(0), dx = c.output(0);
    if (!dx) return;
    const array_layout x = layout_of(dx), y = layout_of(slope);
    copy_part(dx.type, x.rank, x.extent, {slope.data, detail::pad_begin(c, y), y.step},
              {dx.data, 0, x.step});
  }
};

namespace detail {

/// Every dimension of expand as two: which copy, and which element of it.
struct expanded_layout {
  int rank = 0;
  std::ptrdiff_t extent[2 * array_layout::most], x[2 * array_layout::most],
      y[2 * array_layout::most];

  expanded_layout(const call_context& c, const array_layout& from, const array_layout& to) {
    if (c.list_size(0) != from.rank)
      fail(c, {"expected ", from.rank, " counts, found ", c.list_size(0)});
    for (int d = 0; d < from.rank; ++d) {
      push(c.integer_at(0, d), 0, from.extent[d] * to.step[d]);
      push(from.extent[d], from.step[d], to.step[d]);
    }
  }

 private:
  void push(std::ptrdiff_t n, std::ptrdiff_t in_x, std::ptrdiff_t in_y) {
    extent[rank] = n;
    x[rank] = in_x;
    y[rank++] = in_y;
  }
};

}  // namespace detail

template <>
struct call_kernel<expand> {
  template <class = void>
  static void run(const call_context& c) {
    const operand in = c.input(0), out = c.output(0);
    const detail::expanded_layout l(c, layout_of(in), layout_of(out));
    copy_part(in.type, l.rank, l.extent, {in.data, 0, l.x}, {out.data, 0, l.y});
  }
};

template <>
struct call_kernel<gradient_of<expand>> {
  template <class = void>
  static void run(const call_context& c) {
    const operand slope = c.input(1), dx = c.output(0);
    if (!dx) return;
    require_float(c, dx);
    clear(dx);
    const detail::expanded_layout l(c, layout_of(dx), layout_of(slope));
    add_part(l.rank, l.extent, {slope.data, 0, l.y}, {dx.data, 0, l.x});
  }
};

}  // namespace lamina::engine::cpu
