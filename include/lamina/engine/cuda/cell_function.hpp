// SPDX-License-Identifier: Apache-2.0
// lamina/engine/cuda/cell_function.hpp - operators that compute each element of a row from some
// elements of this row, so that they may be a step of a loop over rows.
#pragma once

#include <cstddef>
#include <cstdint>

#include <lamina/core/config.hpp>

namespace lamina::engine::cuda {

/// A call of such an operator, as the host lists it: arrays with rows of one width, and with rows
/// of another.
struct cell_call {
  static constexpr int most_words = 5;
  int rows, cells;                      // rows of all arrays, elements of a row
  std::ptrdiff_t broad_stride, stride;  // elements from row to row
  float number;
  std::uint64_t words[most_words];  // what else it needs to know
};

/// The same as the function of an element is given it.
struct cell_arrays {
  float* const* of;  // as its arguments lie, null where nobody wants it, and then the words
  std::ptrdiff_t broad_stride, stride;
  int cells;
  float number;

  LAMINA_INLINE LAMINA_FN std::uint64_t word(int argument) const {
    return reinterpret_cast<std::uint64_t>(of[argument]);
  }
};

/// Specialise it for an operator:
///   static cell_call call(const call_site&);
///   LAMINA_FN static void run(const cell_arrays&, int row, int cell);
template <class Op>
struct cell_function;

}  // namespace lamina::engine::cuda
