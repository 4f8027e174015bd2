// SPDX-License-Identifier: Apache-2.0
// lamina/engine/cuda/cell_function.hpp - operators that compute each element of a row from some
// elements of this row, so that they may be a step of a loop over rows.
#pragma once

#include <cstddef>

namespace lamina::engine::cuda {

/// What such an operator is given: arrays with rows of one width, and with rows of another.
struct cell_arrays {
  float* const* of;                     // as its arguments lie; null: nobody wants it
  std::ptrdiff_t broad_stride, stride;  // of the first array and those like it, of the others
  int cells;                            // elements of a row of these
  float number;                         // its attribute
};

/// Specialise it for an operator: LAMINA_FN static void run(const cell_arrays&, int row, int cell).
template <class Op>
struct cell_function;

}  // namespace lamina::engine::cuda
