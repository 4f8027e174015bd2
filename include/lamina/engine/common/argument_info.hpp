// SPDX-License-Identifier: Apache-2.0
// lamina/engine/common/argument_info.hpp - the facts of a schedule about an argument, and an
// argument as an operator's kernel receives it: the same for every engine.
#pragma once

#include <lamina/core/config.hpp>

#include <cstddef>

#include <lamina/plan/run_time_tables.hpp>

namespace lamina::inline LAMINA_ABI::engine {

/// The facts about an argument that are known before any batch arrives.
struct argument_info {
  int rows;     // below zero: of a domain
  int columns;  // elements per row
  int stride;   // elements from row to row
  dtype type;
  bool panel;
  bool swapped;    // dimensions 1 and 2 of four are exchanged (plan/aliasing.hpp)
  int dims, rank;  // the whole shape, in the program's pool
};

/// The facts of a plan about argument a of its code. A group may split the rows of a domain into
/// `parts` parts each; its arguments are then described per part.
template <class Plan>
constexpr argument_info argument_info_of(int a, int parts) {
  using P = typename Plan::program;
  const int v = Plan::code.arguments[a];
  if (v < 0) return {1, 1, 1, dtype_of<real_of<P>>, false, false, 0, 0};
  const variable_layout d = layout_of<Plan>(v);
  const int known = Plan::lowered.variables[v].variable;
  if (d.rows >= 0) parts = 1;
  return {rows_in_parts(d.rows, parts),
          d.columns / parts,
          d.stride / parts,
          d.type,
          d.panel,
          Plan::same.is_swapped(v),
          known >= 0 ? P::desc.variables[known].dims : 0,
          known >= 0 ? P::desc.variables[known].rank : 0};
}

/// An array as a kernel sees it: `rows` rows of `columns` elements, `stride` elements apart. The
/// inner dimensions are dims[1] ... for a batch (dims[0] is -1), all of dims otherwise.
struct operand {
  void* data;
  int rows, columns;
  std::ptrdiff_t stride;
  dtype type;
  bool panel;
  const int* dims;
  int rank;
  int domain = 0;        // of the rows; 0: none
  bool swapped = false;  // the inner dimensions 1 and 2 are exchanged

  template <class T>
  T* row(int r) const {
    return static_cast<T*>(data) + r * stride;
  }
  explicit operator bool() const { return data != nullptr; }
};

}  // namespace lamina::inline LAMINA_ABI::engine
