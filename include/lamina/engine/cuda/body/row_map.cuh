// SPDX-License-Identifier: Apache-2.0
// lamina/engine/cuda/body/row_map.cuh - copies rows between arrays, with row indices from tables in
// device memory and one thread per element.
#pragma once

#include <lamina/core/config.hpp>

#include <cstddef>
#include <cstdint>

#include <lamina/engine/cuda/body/part_copy.cuh>

namespace lamina { inline namespace LAMINA_ABI { namespace engine::cuda {

/// Maps row r of a call to a row of an array. Without tables this is first + r. With `order`, it is
/// entry first + r of that table. With `ranks`, a column of a rank table, it is the sequence at
/// that rank.
struct row_map {
  int first = 0;
  const int* order = nullptr;
  const std::int64_t* ranks = nullptr;
  std::ptrdiff_t rank_step = 0;

  LAMINA_INLINE LAMINA_FN std::ptrdiff_t row(int r) const {
    int i = first + r;
    // The index is computed in 32 bits, because with 64 bits the compiler spills a register.
    if (order != nullptr) i = order[i];
    if (ranks != nullptr) i = static_cast<int>(ranks[i * rank_step]);
    return i;
  }
};

/// How rows are moved. gather: to[r] = from[map(r)]. scatter: to[map(r)] = from[r]. scatter_zeros:
/// to[map(r)] = 0. gather_add: to[r] += from[map(r)], for arrays of floats.
enum class row_move : std::uint8_t { gather, scatter, scatter_zeros, gather_add };

template <row_move How>
struct row_move_body {
  struct arguments {
    const void* from;
    void* to;
    std::ptrdiff_t from_stride, to_stride;
    row_map map;
    divider columns;
    int bytes, count;
  };
  static LAMINA_INLINE LAMINA_FN void run(const arguments& a, int i) {
    int column = i;
    const int r = a.columns.divide(column);
    const std::ptrdiff_t chosen = a.map.row(r);
    constexpr bool gathers = How == row_move::gather || How == row_move::gather_add;
    const std::ptrdiff_t source = (gathers ? chosen : r) * a.from_stride + column;
    const std::ptrdiff_t target = (gathers ? r : chosen) * a.to_stride + column;
    if constexpr (How == row_move::gather_add)
      static_cast<float*>(a.to)[target] += static_cast<const float*>(a.from)[source];
    else if constexpr (How == row_move::scatter_zeros)
      detail::zero_element(a.to, target, a.bytes);
    else
      detail::copy_element(a.from, source, a.to, target, a.bytes);
  }
};

/// Moves n rows between two arrays.
template <row_move How, class Backend>
void move_rows(Backend& b, const operand& from, const operand& to, int n, const row_map& map) {
  b.template elements<row_move_body<How>>({from.data, to.data, from.stride, to.stride, map,
                                           divider(to.columns), size_of(to.type), n * to.columns});
}

/// copy_rows() copies the first n rows of one array to another. clear_rows() sets all rows from
/// `first` on to zero.
template <class Backend>
void copy_rows(Backend& b, const operand& from, const operand& to, int n) {
  if (from.data != to.data) move_rows<row_move::gather>(b, from, to, n, {});
}
template <class Backend>
void clear_rows(Backend& b, operand to, int first) {
  if constexpr (requires { b.clear_rows(to, first); }) {
    b.clear_rows(to, first);
  } else {
    to.data = static_cast<char*>(to.data) + first * to.stride * size_of(to.type);
    to.rows -= first;
    if (to.rows > 0) fill(b, to, 0);
  }
}

}}}  // namespace lamina::engine::cuda
