// SPDX-License-Identifier: Apache-2.0
// lamina/transform/pool_gradient_rules.hpp - rules for the gradients of the gradient operators of
// maximum pooling and unpool. Both operators move elements from or to the positions of the largest
// elements of windows.
//
// In the comments, d is the gradient of the forward operator's result, dX the gradient of its
// input, and g the gradient of dX.
#pragma once

#include <lamina/core/config.hpp>

#include <lamina/operators/pool/pool2d/definition.hpp>
#include <lamina/operators/pool/pool3d/definition.hpp>
#include <lamina/transform/gradient_writer.hpp>

namespace lamina { inline namespace LAMINA_ABI {

/// The operators that read or write positions of largest elements.
using twice_differentiable_positions =
    operator_list<operators::max_pool2d_with_index, operators::unpool>;

namespace detail {

/// The attributes that describe the windows of a pooling.
struct pool_attributes {
  attribute_value ksize, strides, paddings;
  bool is_global, is_adaptive;

  /// Whether windows do not overlap, that is, whether each element is in at most one window.
  constexpr bool are_apart(const program_builder& b) const {
    if (is_global) return true;
    if (is_adaptive || ksize.count != 2 || strides.count != 2) return false;
    for (int i = 0; i < 2; ++i)
      if (b.integers.items[strides.offset + i] < b.integers.items[ksize.offset + i]) return false;
    return true;
  }
};

/// Adds the elements of g at the given positions to the gradient of d. The gradient operator of
/// unpool computes this, because it reads one element of g per position. All positions must differ,
/// which is so if windows do not overlap.
constexpr void give_at_positions(gradient_writer& w, int positions, const pool_attributes& a) {
  program_builder& b = w.builder();
  const int d = w.of_out();
  if (const int part = partial_gradient(b, d); part >= 0)
    b.add_operator(schema_of<gradient_of<operators::unpool>>(),
                   {d, positions, w.input(0), w.grad(0)}, {part},
                   b.attribute_list(a.ksize, a.strides, a.paddings, b.text("max")));
}

/// dX has each element of d at the position of the largest element of its window, so the gradient
/// of d consists of the elements of g at these positions. Returns false if windows overlap or
/// extend beyond the image.
constexpr bool differentiate_max_pool(gradient_writer& w) {
  program_builder& b = w.builder();
  const attribute_value* const at = b.attributes.items + w.attributes();
  const pool_attributes a{at[1], at[3], at[4], at[2].number != 0, at[6].number != 0};
  if (!a.are_apart(b) || at[7].number != 0) return false;
  if (w.grad(0) < 0 || !w.wants(w.of_out())) return true;
  const int positions = w.made(w.of_out());
  b.variables.items[positions].type = dtype::int32;
  b.variables.items[positions].kind = variable_kind::temporary;
  b.add_operator(schema_of<operators::max_pool2d_with_index>(), {w.input(0)}, {-1, positions},
                 b.attribute_list(a.ksize, a.is_global, a.is_adaptive, a.strides, a.paddings));
  give_at_positions(w, positions, a);
  return true;
}

/// Does the same for a pooling that returns the positions of the largest elements.
constexpr bool differentiate_indexed_pool(gradient_writer& w) {
  program_builder& b = w.builder();
  if (w.attributes() < 0) return false;
  const attribute_value* const at = b.attributes.items + w.attributes();
  const pool_attributes a{at[0], at[3], at[4], at[1].number != 0, at[2].number != 0};
  if (!a.are_apart(b)) return false;
  if (w.grad(0) >= 0 && w.wants(w.of_out())) give_at_positions(w, w.input(1), a);
  return true;
}

/// For unpool, dX has the elements of d at the positions to which unpool moves the elements of X.
/// The gradient of d is unpool(g) with the same positions.
constexpr void differentiate_unpool(gradient_writer& w) {
  program_builder& b = w.builder();
  const int g = w.grad(0), part = g < 0 ? -1 : partial_gradient(b, w.of_out());
  if (part >= 0)
    b.add_operator(schema_of<operators::unpool>(), {g, w.input(1)}, {part}, w.attributes());
}

}  // namespace detail
}}  // namespace lamina
