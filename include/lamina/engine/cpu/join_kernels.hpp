// SPDX-License-Identifier: Apache-2.0
// lamina/engine/cpu/join_kernels.hpp - operators that join arrays and take them apart: concat,
// split, stack, slice, pad, expand.
#pragma once

#include <lamina/engine/call/part_layout.hpp>
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
      const array_layout x = unsqueezed(layout_of(in), axis);
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
      const array_layout x = unsqueezed(layout_of(dx), axis);
      copy_part(dx.type, x.rank, x.extent, {slope.data, i * y.step[axis], y.step},
                {dx.data, 0, x.step});
    }
  }
};

template <>
struct call_kernel<slice> {
  template <class = void>
  static void run(const call_context& c) {
    const operand in = c.input(0), out = c.output(0);
    const array_layout x = layout_of(in), y = layout_of(out);
    copy_part(in.type, y.rank, y.extent, {in.data, slice_begin(c, x), x.step},
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
              {dx.data, slice_begin(c, x), x.step});
  }
};

template <>
struct call_kernel<pad> {
  template <class = void>
  static void run(const call_context& c) {
    const operand in = c.input(0), out = c.output(0);
    const array_layout x = layout_of(in), y = layout_of(out);
    detail::fill(out, c.number(1));
    copy_part(in.type, x.rank, x.extent, {in.data, 0, x.step}, {out.data, pad_begin(c, y), y.step});
  }
};

template <>
struct call_kernel<gradient_of<pad>> {
  template <class = void>
  static void run(const call_context& c) {
    const operand slope = c.input(0), dx = c.output(0);
    if (!dx) return;
    const array_layout x = layout_of(dx), y = layout_of(slope);
    copy_part(dx.type, x.rank, x.extent, {slope.data, pad_begin(c, y), y.step},
              {dx.data, 0, x.step});
  }
};

template <>
struct call_kernel<expand> {
  template <class = void>
  static void run(const call_context& c) {
    const operand in = c.input(0), out = c.output(0);
    const expanded_layout l(c, layout_of(in), layout_of(out));
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
    const expanded_layout l(c, layout_of(dx), layout_of(slope));
    add_part(l.rank, l.extent, {slope.data, 0, l.y}, {dx.data, 0, l.x});
  }
};

}  // namespace lamina::engine::cpu
