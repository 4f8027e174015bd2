// SPDX-License-Identifier: Apache-2.0
// lamina/engine/cuda/body/recurrent_body.cuh - common parts of the kernels of recurrent layers:
// access to arrays by row, the states before each time step, and the gradient of the weights.
#pragma once

#include <lamina/core/config.hpp>

#include <lamina/engine/cuda/body/bound_kernel.cuh>
#include <lamina/engine/cuda/body/divider.cuh>
#include <lamina/engine/cuda/body/element_loops.cuh>
#include <lamina/engine/cuda/body/product.cuh>
#include <lamina/engine/cuda/schedule/call_context.hpp>
#include <lamina/operators/recurrent/common.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace engine::cuda::detail {

/// Divides scratch memory into arrays, each aligned to 256 bytes, as cuBLASLt expects of its
/// workspace. With a null address it only counts the floats that the arrays need.
class scratch_rows {
 public:
  explicit scratch_rows(float* at) : begin_(at) {}
  row_array take(int rows, int columns) {
    const std::ptrdiff_t stride = padded(columns);
    float* const p = begin_ == nullptr ? nullptr : begin_ + at_;
    at_ += (rows * stride + 63) / 64 * 64;
    return {p, stride};
  }
  /// Returns the array of an operand, or scratch memory in its place if the program does not use
  /// the operand.
  row_array or_take(const operand& o, int rows, int columns) {
    return o ? row_array(o) : take(rows, columns);
  }
  std::ptrdiff_t used() const { return at_; }
  /// The scratch memory after all arrays that were taken.
  float* rest() const { return begin_ == nullptr ? nullptr : begin_ + at_; }

 private:
  float* begin_;
  std::ptrdiff_t at_ = 0;
};

/// Maps the time steps of sequences to rows. The steps of a sequence are its rows in ascending
/// order, or with `reverse` in descending order. Without offsets each row is a sequence of one
/// step.
struct sequence_steps {
  sequence_view all;
  bool reverse;

  LAMINA_INLINE LAMINA_FN int length(int s) const {
    return all.offsets != nullptr ? all.end(s) - all.begin(s) : 1;
  }
  LAMINA_INLINE LAMINA_FN int row(int s, int k) const {
    if (all.offsets == nullptr) return s;
    return reverse ? all.end(s) - 1 - k : all.begin(s) + k;
  }
};

/// The rows of the time steps of one sequence. The constructor reads the offsets only once.
/// Otherwise the compiler would reload them after each store, because a store might alias them.
struct rows_of_sequence {
  int first, step;

  LAMINA_INLINE LAMINA_FN rows_of_sequence(const sequence_steps& steps, int s)
      : first(steps.row(s, 0)), step(steps.reverse ? -1 : 1) {}
  LAMINA_INLINE LAMINA_FN int operator[](int k) const { return first + k * step; }
};

/// Returns the dot product of x and y, whose elements are `step` floats apart in y.
LAMINA_INLINE LAMINA_FN float dot(const float* x, const float* y, std::ptrdiff_t step, int n) {
  float sum = 0;
  for (int i = 0; i < n; ++i) sum += x[i] * y[i * step];
  return sum;
}

/// before[row] = the row of the previous step, or -1 - s in the first step of sequence s.
struct step_before_lines {
  struct arguments {
    sequence_steps steps;
    int* before;
    int lines, width, count;
  };
  template <class Team>
  static LAMINA_INLINE LAMINA_FN void line(const arguments& a, int s, const Team& team) {
    for (int k = team.rank(); k < a.steps.length(s); k += team.size())
      a.before[a.steps.row(s, k)] = k == 0 ? -1 - s : a.steps.row(s, k - 1);
  }
};
template <class Backend>
void find_steps_before(Backend& b, const sequence_steps& steps, int rows, int* before) {
  step_before_lines::arguments a{steps, before, steps.all.count, 0, steps.all.count};
  a.width = a.lines > 0 ? rows / a.lines : 0;
  if (a.lines > 0) b.template lines<team_lines<step_before_lines>>(a);
}

/// to[row] = the state before the time step of this row: the row of the previous step in `states`.
/// For the first step of a sequence it is the sequence's initial state, or zeros if there is none.
struct gather_before_body {
  struct arguments {
    row_array states, initial, to;
    const int* before;
    divider size;
    int count;
  };
  static LAMINA_INLINE LAMINA_FN void run(const arguments& a, int i) {
    int j = i;
    const int row = a.size.divide(j), from = a.before[row];
    const row_array& all = from >= 0 ? a.states : a.initial;
    a.to.row(row)[j] = all ? all.row(from >= 0 ? from : -1 - from)[j] : 0.0f;
  }
};

/// Computes the gradient of the weights by which a recurrence multiplies its states: to[height,
/// width] = states[rows, height]^T * gradients[rows, width]. `states` holds the state before each
/// time step, `gradients` the gradients.
template <class Backend>
void recurrent_weight_gradient(Backend& b, const row_array& states, const row_array& grads,
                               int rows, int height, int width, float* to, std::ptrdiff_t stride,
                               float* workspace) {
  run_product(b,
              {height,
               width,
               rows,
               {states.data, states.stride, true},
               {grads.data, grads.stride},
               to,
               stride},
              workspace);
}

}}}  // namespace lamina::engine::cuda::detail
