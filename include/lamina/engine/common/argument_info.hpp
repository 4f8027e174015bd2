// SPDX-License-Identifier: Apache-2.0
// lamina/engine/common/argument_info.hpp - the compile-time facts about an argument of a kernel,
// and the operand, the form in which the kernel receives the argument. All engines share both
// types.
#pragma once

#include <lamina/core/config.hpp>

#include <cstddef>

#include <lamina/plan/run_time_tables.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace engine {

/// The facts about an argument that the compiler knows, before any mini-batch is read.
struct argument_info {
  int rows;     // the number of rows; if negative, it encodes a row domain (operator_call::rows_of)
  int columns;  // elements per row
  int stride;   // distance between consecutive rows, in elements
  dtype type;
  bool panel;
  bool swapped;    // dimensions 1 and 2 are exchanged in memory (plan/aliasing.hpp)
  int dims, rank;  // the shape: where it begins in the program's list of dims, and its length
};

/// Returns the facts about argument `a` of a plan's code. A group may split each row of a domain
/// into `parts` equal parts; the result then describes each part as one row.
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

/// An array as a kernel receives it: `rows` rows of `columns` elements. Consecutive rows begin
/// `stride` elements apart. If dims[0] is -1, the array has one row per row of the mini-batch, and
/// the dimensions of a row are dims[1], dims[2] and so on. Otherwise `dims` is the shape of the
/// whole array.
struct operand {
  void* data;
  int rows, columns;
  std::ptrdiff_t stride;
  dtype type;
  bool panel;
  const int* dims;
  int rank;
  int domain = 0;        // the row domain that the rows belong to; 0: none
  bool swapped = false;  // dimensions 1 and 2 are exchanged in memory

  template <class T>
  T* row(int r) const {
    return static_cast<T*>(data) + r * stride;
  }
  explicit operator bool() const { return data != nullptr; }
};

}}}  // namespace lamina::engine
