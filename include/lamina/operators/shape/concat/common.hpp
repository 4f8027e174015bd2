// SPDX-License-Identifier: Apache-2.0
// lamina/operators/shape/concat/common.hpp - finds out which parts of arrays concat, split, stack,
// unstack, slice, crop, pad, expand and their gradients copy. All engines share this code.
#pragma once

#include <lamina/core/config.hpp>

#include <lamina/engine/common/part_layout.hpp>
#include <lamina/operators/shape/concat/definition.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace engine {

/// Runs an operator that concatenates or splits arrays as a series of copies. The engine E provides
///   e.copy(type, rank, extent, from, to), which copies one part to another (array_part),
///   e.fill(to, number) and e.clear(to), which set all elements of an array.
template <class Operator>
struct concat_copies;

namespace detail {

/// Copies `part` to the part of `whole` that starts at `begin` along dimension `axis` or, with
/// ToPart, in the other direction. Returns where the next part of `whole` starts.
template <bool ToPart, class E>
std::ptrdiff_t copy_along(const E& e, const operand& whole, const operand& part, int axis,
                          std::ptrdiff_t begin) {
  const array_layout w = layout_of(whole), p = layout_of(part);
  const array_part in_whole{whole.data, begin * w.step[axis], w.step};
  const array_part in_part{part.data, 0, p.step};
  e.copy(part.type, p.rank, p.extent, ToPart ? in_whole : in_part, ToPart ? in_part : in_whole);
  return begin + p.extent[axis];
}

/// Concatenates the inputs of concat or, for the gradient of split, the gradients of the outputs.
template <int Axis>
struct concat_inputs {
  template <class E>
  static void run(const operator_call& c, const E& e) {
    const operand out = c.output(0);
    if (!out) return;
    const int axis = dimension_of(c, c.integer(Axis), layout_of(out).rank);
    std::ptrdiff_t begin = 0;
    for (int i = 0; i < c.input_count(0); ++i)
      begin = copy_along<false>(e, out, c.input(0, i), axis, begin);
  }
};

/// Copies the inputs of stack to the slices of its output along the new dimension or, with ToParts,
/// the slices of unstack's input to the outputs. The gradients of both operators use it as well.
template <bool ToParts>
struct stack_inputs {
  template <class E>
  static void run(const operator_call& c, const E& e) {
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
      e.copy(part.type, x.rank, x.extent, ToParts ? in_whole : in_part,
             ToParts ? in_part : in_whole);
    }
  }
};

}  // namespace detail

template <>
struct concat_copies<operators::concat> : detail::concat_inputs<0> {};
template <>
struct concat_copies<gradient_of<operators::split>> : detail::concat_inputs<2> {};

template <>
struct concat_copies<gradient_of<operators::concat>> {
  template <class E>
  static void run(const operator_call& c, const E& e) {
    const operand grad = c.input(1);
    const int axis = dimension_of(c, c.integer(0), layout_of(grad).rank);
    std::ptrdiff_t begin = 0;
    for (int i = 0; i < c.output_count(0); ++i) {
      const operand dx = c.output(0, i);
      if (dx)
        begin = detail::copy_along<true>(e, grad, dx, axis, begin);
      else
        begin += layout_of(c.input(0, i)).extent[axis];
    }
  }
};

template <>
struct concat_copies<operators::split> {
  template <class E>
  static void run(const operator_call& c, const E& e) {
    const operand in = c.input(0);
    const array_layout shape = layout_of(in);
    const int axis = dimension_of(c, c.integer(2), shape.rank);
    const int parts = c.output_count(0), sections = c.list_size(0);
    std::ptrdiff_t begin = 0;
    for (int i = 0; i < parts; ++i) {
      const operand out = c.output(0, i);
      if (out) detail::copy_along<true>(e, in, out, axis, begin);
      begin += sections > 0 ? c.integer_at(0, i) : shape.extent[axis] / parts;
    }
  }
};

template <>
struct concat_copies<operators::stack> : detail::stack_inputs<false> {};
template <>
struct concat_copies<gradient_of<operators::stack>> : detail::stack_inputs<true> {};

template <>
struct concat_copies<operators::unstack> : detail::stack_inputs<true> {};
template <>
struct concat_copies<gradient_of<operators::unstack>> : detail::stack_inputs<false> {};

template <>
struct concat_copies<operators::slice> {
  template <class E>
  static void run(const operator_call& c, const E& e) {
    const operand in = c.input(0), out = c.output(0);
    const array_layout x = layout_of(in), y = layout_of(out);
    e.copy(in.type, y.rank, y.extent, {in.data, slice_begin(c, x), x.step}, {out.data, 0, y.step});
  }
};
template <>
struct concat_copies<gradient_of<operators::slice>> {
  template <class E>
  static void run(const operator_call& c, const E& e) {
    const operand grad = c.input(1), dx = c.output(0);
    if (!dx) return;
    e.clear(dx);
    const array_layout x = layout_of(dx), y = layout_of(grad);
    e.copy(dx.type, y.rank, y.extent, {grad.data, 0, y.step}, {dx.data, slice_begin(c, x), x.step});
  }
};

template <>
struct concat_copies<operators::crop> {
  template <class E>
  static void run(const operator_call& c, const E& e) {
    const operand in = c.input(0), out = c.output(0);
    const array_layout x = layout_of(in), y = layout_of(out);
    e.copy(in.type, y.rank, y.extent, {in.data, crop_begin(c, x, y), x.step},
           {out.data, 0, y.step});
  }
};
template <>
struct concat_copies<gradient_of<operators::crop>> {
  template <class E>
  static void run(const operator_call& c, const E& e) {
    const operand grad = c.input(2), dx = c.output(0);
    if (!dx) return;
    e.clear(dx);
    const array_layout x = layout_of(dx), y = layout_of(grad);
    e.copy(dx.type, y.rank, y.extent, {grad.data, 0, y.step},
           {dx.data, crop_begin(c, x, y), x.step});
  }
};

template <>
struct concat_copies<operators::pad> {
  template <class E>
  static void run(const operator_call& c, const E& e) {
    const operand in = c.input(0), out = c.output(0);
    const array_layout x = layout_of(in), y = layout_of(out);
    e.fill(out, c.number(1));
    e.copy(in.type, x.rank, x.extent, {in.data, 0, x.step}, {out.data, pad_begin(c, y), y.step});
  }
};
template <>
struct concat_copies<gradient_of<operators::pad>> {
  template <class E>
  static void run(const operator_call& c, const E& e) {
    const operand grad = c.input(0), dx = c.output(0);
    if (!dx) return;
    const array_layout x = layout_of(dx), y = layout_of(grad);
    e.copy(dx.type, x.rank, x.extent, {grad.data, pad_begin(c, y), y.step}, {dx.data, 0, x.step});
  }
};

/// Only the forward operator is here: the gradient of expand is a sum over copies, which each
/// engine computes by its own kernel.
template <>
struct concat_copies<operators::expand> {
  template <class E>
  static void run(const operator_call& c, const E& e) {
    const operand in = c.input(0), out = c.output(0);
    const expanded_layout l(c, layout_of(in), layout_of(out));
    e.copy(in.type, l.rank, l.extent, {in.data, 0, l.x}, {out.data, 0, l.y});
  }
};

}}}  // namespace lamina::engine
