// SPDX-License-Identifier: Apache-2.0
// lamina/engine/cuda/join_kernels.hpp - operators that join arrays and take them apart: concat,
// split, stack, slice, pad, expand.
#pragma once

#include <lamina/engine/call/part_layout.hpp>
#include <lamina/engine/cuda/part_copy.hpp>
#include <lamina/engine/cuda/reduce_kernels.hpp>
#include <lamina/operators/concat.hpp>

namespace lamina::engine::cuda {

namespace detail {

/// Copies the part of `whole` that begins at `begin` along `axis` from or to `part`; returns where
/// the next one begins.
template <bool ToPart, class Backend>
std::ptrdiff_t copy_along(Backend& b, const operator_call& c, const operand& whole,
                          const operand& part, int axis, std::ptrdiff_t begin) {
  const array_layout w = layout_of(whole), p = layout_of(part);
  const array_part in_whole{whole.data, begin * w.step[axis], w.step};
  const array_part in_part{part.data, 0, p.step};
  copy_part(b, c, part.type, p.rank, p.extent, ToPart ? in_whole : in_part,
            ToPart ? in_part : in_whole);
  return begin + p.extent[axis];
}

/// Inputs, or slopes of outputs, side by side.
template <int Axis>
struct join_kernel {
  static constexpr bool launches = true;
  template <class Backend>
  static void launch(Backend& b, const call_site& c) {
    const operand out = c.output(0);
    if (!out) return;
    const int axis = dimension_of(c, c.integer(Axis), layout_of(out).rank);
    std::ptrdiff_t begin = 0;
    for (int i = 0; i < c.input_count(0); ++i)
      begin = copy_along<false>(b, c, out, c.input(0, i), axis, begin);
  }
};

/// The inputs of stack, or their slopes: parts of Y along a dimension of its own.
template <bool ToParts>
struct stack_kernel {
  static constexpr bool launches = true;
  template <class Backend>
  static void launch(Backend& b, const call_site& c) {
    const operand whole = ToParts ? c.input(0) : c.output(0);
    const array_layout y = layout_of(whole);
    const int axis = dimension_of(c, c.integer(0), y.rank);
    const int parts = ToParts ? c.output_count(0) : c.input_count(0);
    for (int i = 0; i < parts; ++i) {
      const operand part = ToParts ? c.output(0, i) : c.input(0, i);
      if (!part) continue;
      const array_layout x = unsqueezed(layout_of(part), axis);
      const array_part in_whole{whole.data, i * y.step[axis], y.step};
      const array_part in_part{part.data, 0, x.step};
      copy_part(b, c, part.type, x.rank, x.extent, ToParts ? in_whole : in_part,
                ToParts ? in_part : in_whole);
    }
  }
};

}  // namespace detail

template <>
struct call_kernel<concat> : detail::join_kernel<0> {};
template <>
struct call_kernel<gradient_of<split>> : detail::join_kernel<2> {};

template <>
struct call_kernel<gradient_of<concat>> {
  static constexpr bool launches = true;
  template <class Backend>
  static void launch(Backend& b, const call_site& c) {
    const operand slope = c.input(1);
    const int axis = dimension_of(c, c.integer(0), layout_of(slope).rank);
    std::ptrdiff_t begin = 0;
    for (int i = 0; i < c.output_count(0); ++i) {
      const operand dx = c.output(0, i);
      if (dx)
        begin = detail::copy_along<true>(b, c, slope, dx, axis, begin);
      else
        begin += layout_of(c.input(0, i)).extent[axis];
    }
  }
};

template <>
struct call_kernel<split> {
  static constexpr bool launches = true;
  template <class Backend>
  static void launch(Backend& b, const call_site& c) {
    const operand in = c.input(0);
    const array_layout shape = layout_of(in);
    const int axis = dimension_of(c, c.integer(2), shape.rank);
    const int parts = c.output_count(0), sections = c.list_size(0);
    std::ptrdiff_t begin = 0;
    for (int i = 0; i < parts; ++i) {
      const operand out = c.output(0, i);
      if (out) detail::copy_along<true>(b, c, in, out, axis, begin);
      begin += sections > 0 ? c.integer_at(0, i) : shape.extent[axis] / parts;
    }
  }
};

template <>
struct call_kernel<stack> : detail::stack_kernel<false> {};
template <>
struct call_kernel<gradient_of<stack>> : detail::stack_kernel<true> {};

template <>
struct call_kernel<slice> {
  static constexpr bool launches = true;
  template <class Backend>
  static void launch(Backend& b, const call_site& c) {
    const operand in = c.input(0), out = c.output(0);
    const array_layout x = layout_of(in), y = layout_of(out);
    copy_part(b, c, in.type, y.rank, y.extent, {in.data, slice_begin(c, x), x.step},
              {out.data, 0, y.step});
  }
};
template <>
struct call_kernel<gradient_of<slice>> {
  static constexpr bool launches = true;
  template <class Backend>
  static void launch(Backend& b, const call_site& c) {
    const operand slope = c.input(1), dx = c.output(0);
    if (!dx) return;
    fill(b, dx, 0);
    const array_layout x = layout_of(dx), y = layout_of(slope);
    copy_part(b, c, dx.type, y.rank, y.extent, {slope.data, 0, y.step},
              {dx.data, slice_begin(c, x), x.step});
  }
};

template <>
struct call_kernel<pad> {
  static constexpr bool launches = true;
  template <class Backend>
  static void launch(Backend& b, const call_site& c) {
    const operand in = c.input(0), out = c.output(0);
    const array_layout x = layout_of(in), y = layout_of(out);
    fill(b, out, c.number(1));
    copy_part(b, c, in.type, x.rank, x.extent, {in.data, 0, x.step},
              {out.data, pad_begin(c, y), y.step});
  }
};
template <>
struct call_kernel<gradient_of<pad>> {
  static constexpr bool launches = true;
  template <class Backend>
  static void launch(Backend& b, const call_site& c) {
    const operand slope = c.input(0), dx = c.output(0);
    if (!dx) return;
    const array_layout x = layout_of(dx), y = layout_of(slope);
    copy_part(b, c, dx.type, x.rank, x.extent, {slope.data, pad_begin(c, y), y.step},
              {dx.data, 0, x.step});
  }
};

template <>
struct call_kernel<expand> {
  static constexpr bool launches = true;
  template <class Backend>
  static void launch(Backend& b, const call_site& c) {
    const operand in = c.input(0), out = c.output(0);
    const expanded_layout l(c, layout_of(in), layout_of(out));
    copy_part(b, c, in.type, l.rank, l.extent, {in.data, 0, l.x}, {out.data, 0, l.y});
  }
};
/// The sum over the copies of each element.
template <>
struct call_kernel<gradient_of<expand>> {
  static constexpr bool launches = true;
  template <class Backend>
  static void launch(Backend& b, const call_site& c) {
    const operand slope = c.input(1), dx = c.output(0);
    if (!dx) return;
    require_float(c, dx);
    const expanded_layout l(c, layout_of(dx), layout_of(slope));
    loop_nest<2> kept, over;
    for (int d = 0; d < l.rank; ++d) (l.x[d] == 0 ? over : kept).add(l.extent[d], l.y[d], l.x[d]);
    detail::reduce<reduction_kind::sum>(b, c, slope, dx, kept, over);
  }
};

}  // namespace lamina::engine::cuda
