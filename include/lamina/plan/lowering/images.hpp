// SPDX-License-Identifier: Apache-2.0
// lamina/plan/lowering/images.hpp - functions for lowering operators on images: instructions over
// images, and operands with one element per channel.
#pragma once

#include <lamina/core/config.hpp>

#include <lamina/operators/elementwise/binary/definition.hpp>
#include <lamina/plan/image_operators.hpp>
#include <lamina/plan/lowering/layout_copies.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace lowering {

constexpr bool is_images(const lowering_state& s, int v) {
  return v >= 0 && s.variables.items[v].rows < 0 && s.variables.items[v].type == s.real &&
         s.program.variables[v].rank > 1;
}

/// Whether v has one element per channel of the images of `space`, for an elementwise operator with
/// the given axis.
constexpr bool is_of_channels(const lowering_state& s, int v, const plan_variable& space,
                              int axis) {
  const program_desc& p = s.program;
  return axis == 1 && space.rows < 0 && space.variable >= 0 && s.variables.items[v].rows == 1 &&
         p.variables[v].rank == 1 && p.variables[space.variable].rank > 2 &&
         p.dims[p.variables[space.variable].dims + 1] == s.variables.items[v].columns;
}
/// Returns the access of an operand with one element per channel. `columns` is the number of
/// elements per row of the images: if each channel has one element, the operand is read as a row.
constexpr access of_channels(int channels, int columns) {
  return channels == columns ? access::row : access::channel;
}

/// Begins an instruction over images that have the shape of variable `like`.
constexpr instruction begin_images(const lowering_state& s, fusion_anchor head,
                                   const operator_schema& schema, int like, int k) {
  instruction i = begin(s, head, schema, 0, k);
  i.rows = s.variables.items[like].rows;
  i.columns = s.variables.items[like].columns;
  i.depth = s.program.variables[like].dims;
  return i;
}
/// Adds a plan variable with the shape of variable v and returns it.
constexpr int image_like(lowering_state& s, int v) {
  return temporary(s, s.variables.items[v].rows, s.variables.items[v].columns, false, -1);
}
/// Appends x + y and returns the result: `out` if y is the last addend, otherwise a new variable.
constexpr int add_images(lowering_state& s, int x, int y, access how, int out, bool is_last,
                         int k) {
  const int made = is_last ? out : image_like(s, out);
  instruction i =
      begin_images(s, fusion_anchor::pointwise, schema_of<operators::elementwise_add>(), out, k);
  use(s, x, access::load);
  use(s, y, how);
  result(s, made);
  end(s, i);
  return made;
}

}}}  // namespace lamina::lowering
