// SPDX-License-Identifier: Apache-2.0
// lamina/operators/recurrent/lstm/cuda_body.cuh - kernels of lstm and lstmp. A team of threads
// computes the steps of a sequence one after the other; each thread computes some of the cells.
// Values that are kept for the gradient have the same row order as the input.
#pragma once

#include <lamina/core/config.hpp>

#include <lamina/engine/cuda/body/recurrent_body.cuh>

namespace lamina { inline namespace LAMINA_ABI { namespace engine::cuda::detail {

struct lstm_arguments {
  sequence_steps steps;
  recurrent_activation gate, of_cell, candidate;
  int n, depth;  // number of cells; width of the state that the next step reads
  row_array weight;
  const float *bias, *peepholes;  // null if absent
  row_array x, h0, c0, hidden, cell, gates, activated;
  row_array d_hidden, d_cell, d_gates, back_cell, dh0, dc0;
  // Only lstmp uses the members below: its next step reads a projection of the hidden state.
  recurrent_activation of_projection;
  float cell_clip, proj_clip;
  row_array proj_weight, projection, d_projection, d_projected;
  int rows;
  int lines, width, count;
};

/// Returns the value of gate `gate` of cell j: the candidate (0), the input gate (1) or the forget
/// gate (2). `sum` is the gate's input plus its products with the state, `before` the previous
/// cell. For the output gate (3), returns `sum`: its peephole reads the new cell, so lstm_finish()
/// computes it.
LAMINA_INLINE LAMINA_FN float lstm_gate(const lstm_arguments& a, int gate, int j, float sum,
                                        float before) {
  if (gate == 0) return value_of(a.candidate, sum);
  if (a.peepholes != nullptr) sum += a.peepholes[(gate - 1) * a.n + j] * before;
  return value_of(a.gate, sum);
}

/// The values that cell j passes to the next step.
struct lstm_state {
  float cell, hidden;
};
/// Ends a step for cell j: computes the output gate, the new cell and the hidden state, stores
/// them, and returns the cell and the hidden state. g holds the gates of the cell; g[3] is the sum
/// from which the output gate is computed.
template <bool Projects>
LAMINA_INLINE LAMINA_FN lstm_state lstm_finish(const lstm_arguments& a, int row, int j,
                                               float (&g)[4], float before) {
  const int n = a.n;
  float now = g[2] * before + g[1] * g[0];
  if constexpr (Projects) now = clipped(now, a.cell_clip);
  if (a.peepholes != nullptr) g[3] += a.peepholes[2 * n + j] * now;
  g[3] = value_of(a.gate, g[3]);
  const float activated = value_of(a.of_cell, now), hidden = g[3] * activated;
  a.cell.row(row)[j] = now;
  a.hidden.row(row)[j] = hidden;
  if (a.activated) a.activated.row(row)[j] = activated;
  if (a.gates) {
    LAMINA_CUDA_UNROLL
    for (int q = 0; q < 4; ++q) a.gates.row(row)[q * n + j] = g[q];
  }
  return {now, hidden};
}

template <bool Projects>
struct lstm_lines {
  using arguments = lstm_arguments;
  template <class Team>
  static LAMINA_INLINE LAMINA_FN void line(const arguments& a, int s, const Team& team) {
    const int n = a.n, length = a.steps.length(s);
    for (int k = 0; k < length; ++k) {
      const int row = a.steps.row(s, k);
      const float* h = a.h0 ? a.h0.row(s) : nullptr;
      const float* c = a.c0 ? a.c0.row(s) : nullptr;
      if (k > 0) {
        const int before = a.steps.row(s, k - 1);
        h = (Projects ? a.projection : a.hidden).row(before), c = a.cell.row(before);
      }
      for (int j = team.rank(); j < n; j += team.size()) step(a, row, j, h, c);
      // This barrier is needed because the code below reads values that other threads have written.
      team.barrier();
      if constexpr (Projects) {
        for (int q = team.rank(); q < a.depth; q += team.size())
          a.projection.row(row)[q] = clipped(
              value_of(a.of_projection,
                       dot(a.hidden.row(row), a.proj_weight.data + q, a.proj_weight.stride, n)),
              a.proj_clip);
        team.barrier();
      }
    }
  }

 private:
  static LAMINA_INLINE LAMINA_FN void step(const arguments& a, int row, int j, const float* h,
                                           const float* c) {
    const int n = a.n;
    float g[4];
    LAMINA_CUDA_UNROLL
    for (int q = 0; q < 4; ++q) g[q] = a.x.row(row)[q * n + j] + a.bias[q * n + j];
    for (int i = 0; h != nullptr && i < a.depth; ++i) {
      const float v = h[i];
      const float* const w = a.weight.row(i) + j;
      LAMINA_CUDA_UNROLL
      for (int q = 0; q < 4; ++q) g[q] += v * w[q * n];
    }
    const float before = c != nullptr ? c[j] : 0.0f;
    LAMINA_CUDA_UNROLL
    for (int q = 0; q < 3; ++q) g[q] = lstm_gate(a, q, j, g[q], before);
    lstm_finish<Projects>(a, row, j, g, before);
  }
};

/// The values that the forward pass has stored for one step of a cell.
struct lstm_step {
  float gates[4], activated, before;  // `before` is the previous cell
};
/// The gradients of the gates of a cell and of the previous cell.
struct lstm_grads {
  float gates[4], before;
};
/// Computes the gradients of cell j in one step, and stores those of the gates. `dh` and `dc` are
/// the gradients of the hidden state and of the new cell.
template <bool Projects>
LAMINA_INLINE LAMINA_FN lstm_grads lstm_step_grads(const lstm_arguments& a, int row, int j,
                                                   const lstm_step& step, float dh, float dc) {
  const int n = a.n;
  const float x = step.gates[0], i = step.gates[1], f = step.gates[2], o = step.gates[3];
  const float d_o = grad_of(a.gate, o, dh * step.activated);
  dc += grad_of(a.of_cell, step.activated, dh * o);
  if (a.peepholes != nullptr) dc += a.peepholes[2 * n + j] * d_o;
  if constexpr (Projects) dc = through_clip(a.cell.row(row)[j], dc, a.cell_clip);
  const float d_i = grad_of(a.gate, i, dc * x), d_f = grad_of(a.gate, f, dc * step.before);
  float before = dc * f;
  if (a.peepholes != nullptr) before += a.peepholes[j] * d_i + a.peepholes[n + j] * d_f;
  const lstm_grads d{{grad_of(a.candidate, x, dc * i), d_i, d_f, d_o}, before};
  LAMINA_CUDA_UNROLL
  for (int q = 0; q < 4; ++q) a.d_gates.row(row)[q * n + j] = d.gates[q];
  return d;
}

template <bool Projects>
struct lstm_grad_lines {
  using arguments = lstm_arguments;
  template <class Team>
  static LAMINA_INLINE LAMINA_FN void line(const arguments& a, int s, const Team& team) {
    const int n = a.n, length = a.steps.length(s);
    for (int k = length; k-- > 0;) {
      const int row = a.steps.row(s, k);
      const float* before = a.c0 ? a.c0.row(s) : nullptr;
      if (k > 0) before = a.cell.row(a.steps.row(s, k - 1));
      const float* const behind = k + 1 < length ? a.d_gates.row(a.steps.row(s, k + 1)) : nullptr;
      if constexpr (Projects) {
        for (int q = team.rank(); q < a.depth; q += team.size()) {
          const float y = a.projection.row(row)[q];
          float dy = a.d_projection.row(row)[q];
          if (behind != nullptr) dy += dot(behind, a.weight.row(q), 1, 4 * n);
          a.d_projected.row(row)[q] = grad_of(a.of_projection, y, through_clip(y, dy, a.proj_clip));
        }
        team.barrier();
      }
      for (int j = team.rank(); j < n; j += team.size()) step(a, s, row, j, before, behind);
      // This barrier is needed because the code for the previous step reads values that other
      // threads have written.
      team.barrier();
    }
    for (int q = team.rank(); a.dh0 && q < a.depth; q += team.size())
      a.dh0.row(s)[q] =
          length > 0 ? dot(a.d_gates.row(a.steps.row(s, 0)), a.weight.row(q), 1, 4 * n) : 0.0f;
    for (int j = team.rank(); a.dc0 && j < n; j += team.size())
      a.dc0.row(s)[j] = length > 0 ? a.back_cell.row(s)[j] : 0.0f;
  }

 private:
  static LAMINA_INLINE LAMINA_FN void step(const arguments& a, int s, int row, int j,
                                           const float* before, const float* behind) {
    const int n = a.n;
    float* const back_cell = a.back_cell.row(s) + j;
    float dh, dc = a.d_cell.row(row)[j];
    if constexpr (Projects) {
      dh = dot(a.d_projected.row(row), a.proj_weight.row(j), 1, a.depth);
    } else {
      dh = a.d_hidden.row(row)[j];
      if (behind != nullptr) dh += dot(behind, a.weight.row(j), 1, 4 * n);
    }
    if (behind != nullptr) dc += *back_cell;
    const float* const g = a.gates.row(row) + j;
    const lstm_step step{{g[0], g[n], g[2 * n], g[3 * n]},
                         a.activated.row(row)[j],
                         before != nullptr ? before[j] : 0.0f};
    *back_cell = lstm_step_grads<Projects>(a, row, j, step, dh, dc).before;
  }
};

/// The terms of the gradient of the bias and of the peepholes, which follow the bias; each element
/// is a sum over rows.
struct lstm_bias_terms {
  static constexpr int sums = 1;
  row_array d_gates, cells_before, cells;
  int n;

  LAMINA_INLINE LAMINA_FN void add(int row, int column, double (&to)[1]) const {
    const int peephole = column / n - 4, j = column % n;
    float term = d_gates.row(row)[peephole < 0 ? column : (peephole + 1) * n + j];
    // The peepholes of i and f read the previous cell, the peephole of o reads the new cell.
    if (peephole >= 0) term *= (peephole == 2 ? cells : cells_before).row(row)[j];
    to[0] += static_cast<double>(term);
  }
};

}}}  // namespace lamina::engine::cuda::detail
