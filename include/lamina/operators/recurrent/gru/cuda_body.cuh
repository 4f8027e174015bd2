// SPDX-License-Identifier: Apache-2.0
// lamina/operators/recurrent/gru/cuda_body.cuh - kernels of gru and gru_unit. A team of threads
// computes the steps of a sequence one after the other, or the single step of a row of gru_unit;
// each thread computes some of the states. Values that are kept for the gradient have the same row
// order as the input.
#pragma once

#include <lamina/core/config.hpp>

#include <lamina/engine/cuda/body/recurrent_body.cuh>

namespace lamina { inline namespace LAMINA_ABI { namespace engine::cuda::detail {

/// The weight [n, 3n]. Its memory holds two matrices: the weight of the gates [n, 2n], then the
/// weight of the candidate [n, n].
struct gru_weight {
  const float* data;
  std::ptrdiff_t stride;
  divider columns;
  int n;

  LAMINA_INLINE LAMINA_FN const float* at(int i) const {
    const int row = columns.divide(i);
    return data + row * stride + i;
  }
  LAMINA_INLINE LAMINA_FN float element(int i) const { return *at(i); }
  LAMINA_INLINE LAMINA_FN float gate(int i, int q) const { return element(i * 2 * n + q); }
  LAMINA_INLINE LAMINA_FN float candidate(int i, int j) const {
    return element(2 * n * n + i * n + j);
  }
};

struct gru_arguments {
  sequence_steps steps;
  recurrent_activation candidate, gate;
  bool origin_mode;
  int n;  // number of states
  gru_weight weight;
  const float* bias;  // null: no bias
  row_array x, h0, hidden, gates, reset;
  row_array d_hidden, d_gates, back, dh0;
  int rows;
  int lines, width, count;

  LAMINA_INLINE LAMINA_FN float input(int row, int q) const {
    return x.row(row)[q] + (bias != nullptr ? bias[q] : 0.0f);
  }
};

/// Ends a step for state j: stores the candidate c and the new state, and returns the new state. u
/// is the update gate, `before` the previous state.
LAMINA_INLINE LAMINA_FN float gru_finish(const gru_arguments& a, int row, int j, float u, float c,
                                         float before) {
  // The form before + u * (c - before) would lose the digits of c if `before` is large.
  const float now = a.origin_mode ? u * before + (1 - u) * c : (1 - u) * before + u * c;
  a.gates.row(row)[2 * a.n + j] = c;
  a.hidden.row(row)[j] = now;
  return now;
}

struct gru_lines {
  using arguments = gru_arguments;
  template <class Team>
  static LAMINA_INLINE LAMINA_FN void line(const arguments& a, int s, const Team& team) {
    const int n = a.n;
    for (int k = 0; k < a.steps.length(s); ++k) {
      const int row = a.steps.row(s, k);
      const float* h = a.h0 ? a.h0.row(s) : nullptr;
      if (k > 0) h = a.hidden.row(a.steps.row(s, k - 1));
      float *const g = a.gates.row(row), *const reset = a.reset.row(row);
      for (int j = team.rank(); j < n; j += team.size()) {
        float u = a.input(row, j), r = a.input(row, n + j);
        for (int i = 0; h != nullptr && i < n; ++i) {
          u += h[i] * a.weight.gate(i, j);
          r += h[i] * a.weight.gate(i, n + j);
        }
        g[j] = value_of(a.gate, u);
        g[n + j] = value_of(a.gate, r);
        reset[j] = h != nullptr ? g[n + j] * h[j] : 0.0f;
      }
      team.barrier();
      for (int j = team.rank(); j < n; j += team.size()) {
        float c = a.input(row, 2 * n + j);
        for (int i = 0; h != nullptr && i < n; ++i) c += reset[i] * a.weight.candidate(i, j);
        c = value_of(a.candidate, c);
        gru_finish(a, row, j, g[j], c, h != nullptr ? h[j] : 0.0f);
      }
      // This barrier is needed because the next step reads values that other threads have written.
      team.barrier();
    }
  }
};

/// The gradients of the update gate and of the candidate, which gru_step_grads() also stores, and
/// `before`, the part of the gradient of the previous state that passes through neither.
struct gru_grads {
  float update, candidate, before;
};
/// Computes the gradients of state j in one step from `dh`, the gradient of the new state.
LAMINA_INLINE LAMINA_FN gru_grads gru_step_grads(const gru_arguments& a, int row, int j, float u,
                                                 float c, float before, float dh) {
  const float added = a.origin_mode ? 1 - u : u, kept = a.origin_mode ? u : 1 - u;
  const float difference = a.origin_mode ? before - c : c - before;
  const gru_grads d{grad_of(a.gate, u, dh * difference), grad_of(a.candidate, c, dh * added),
                    dh * kept};
  a.d_gates.row(row)[j] = d.update;
  a.d_gates.row(row)[2 * a.n + j] = d.candidate;
  return d;
}

struct gru_grad_lines {
  using arguments = gru_arguments;
  template <class Team>
  static LAMINA_INLINE LAMINA_FN void line(const arguments& a, int s, const Team& team) {
    const int n = a.n, length = a.steps.length(s);
    float* const back = a.back.row(s);
    for (int j = team.rank(); j < n; j += team.size()) back[j] = 0;
    for (int k = length; k-- > 0;) {
      const int row = a.steps.row(s, k);
      const float* h = a.h0 ? a.h0.row(s) : nullptr;
      if (k > 0) h = a.hidden.row(a.steps.row(s, k - 1));
      const float* const g = a.gates.row(row);
      float* const dg = a.d_gates.row(row);
      for (int j = team.rank(); j < n; j += team.size()) {
        const float dh = back[j] + a.d_hidden.row(row)[j];
        back[j] =
            gru_step_grads(a, row, j, g[j], g[2 * n + j], h != nullptr ? h[j] : 0.0f, dh).before;
      }
      team.barrier();
      for (int j = team.rank(); j < n; j += team.size()) {
        float d_reset = 0;
        for (int q = 0; q < n; ++q) d_reset += dg[2 * n + q] * a.weight.candidate(j, q);
        const float r = g[n + j], before = h != nullptr ? h[j] : 0.0f;
        dg[n + j] = grad_of(a.gate, r, d_reset * before);
        back[j] += d_reset * r;
      }
      team.barrier();
      for (int j = team.rank(); j < n; j += team.size())
        for (int q = 0; q < 2 * n; ++q) back[j] += dg[q] * a.weight.gate(j, q);
    }
    for (int j = team.rank(); a.dh0 && j < n; j += team.size()) a.dh0.row(s)[j] = back[j];
  }
};

}}}  // namespace lamina::engine::cuda::detail
