// SPDX-License-Identifier: Apache-2.0
// lamina/operators/recurrent/lstm/cuda_kept_body.cuh - the kernels of an lstm with few cells. Each
// thread computes one gate of one cell, and keeps the weights of this gate on the chip (in
// registers and shared memory) for all steps.
#pragma once

#include <lamina/core/config.hpp>

#include <lamina/engine/cuda/body/kept_weights.cuh>
#include <lamina/operators/recurrent/lstm/cuda_body.cuh>

namespace lamina { inline namespace LAMINA_ABI { namespace engine::cuda::detail {

template <int States>
struct kept_lstm_steps {
  using shape = kept_shape<States, 4>;
  using arguments = lstm_arguments;
  struct memory {
    shared_state<States> hidden;
    float cell[bound(States)], gates[4][bound(States)];
  };
  static constexpr bool adjacent = false;

  static LAMINA_INLINE LAMINA_FN const float* weight(const arguments& a, int gate, int j, int i) {
    return a.weight.row(i) + gate * a.n + j;
  }
  template <class Team>
  static LAMINA_INLINE LAMINA_FN void walk(const arguments& a, int s, const Team& team, memory& m,
                                           const kept_lines<Team, shape>& weights) {
    const int n = a.n, length = a.steps.length(s);
    const rows_of_sequence rows(a.steps, s);
    struct {
      float x, bias;  // `x` of the next step is loaded during this step
    } input[shape::template lanes<Team>];
    const auto read = [&](int k, int lane, int q) {
      if (k < length) input[lane].x = a.x.row(rows[k])[q];
    };
    shape::each(team, [&](int lane, int gate, int j) {
      if (j < n) {
        read(0, lane, gate * n + j);
        input[lane].bias = a.bias[gate * n + j];
      }
      if (gate != 0) return;
      m.hidden[j] = j < n && a.h0 ? a.h0.row(s)[j] : 0.0f;
      m.cell[j] = j < n && a.c0 ? a.c0.row(s)[j] : 0.0f;
    });
    team.barrier();
    LAMINA_CUDA_KEEP_LOOP
    for (int k = 0; k < length; ++k) {
      shape::each(team, [&](int lane, int gate, int j) {
        if (j >= n) return;
        float g = input[lane].x + input[lane].bias;
        read(k + 1, lane, gate * n + j);
        if (k > 0 || a.h0) g += weights.times(lane, gate, j, m.hidden);
        m.gates[gate][j] = gate < 3 ? lstm_gate(a, gate, j, g, m.cell[j]) : g;
      });
      team.barrier();
      shape::each(team, [&](int, int gate, int j) {
        if (gate != 0 || j >= n) return;
        float g[4] = {m.gates[0][j], m.gates[1][j], m.gates[2][j], m.gates[3][j]};
        const lstm_state made = lstm_finish<false>(a, rows[k], j, g, m.cell[j]);
        m.hidden[j] = made.hidden;
        m.cell[j] = made.cell;
      });
      team.barrier();
    }
  }
};

/// Computes the backward pass. Each thread keeps a row of the weight of one gate.
template <int States>
struct kept_lstm_grad_steps {
  using shape = kept_shape<States, 4>;
  using arguments = lstm_arguments;
  struct memory {
    shared_state<States> grads[4];  // gates' gradients in the following step
    float sums[4][bound(States)];   // products of `grads` and the weight
    float gates[4][bound(States)], others[4][bound(States)];
  };
  static constexpr bool adjacent = true;

  static LAMINA_INLINE LAMINA_FN const float* weight(const arguments& a, int gate, int j, int i) {
    return a.weight.row(j) + gate * a.n + i;
  }
  /// Returns the value of step k that the thread for gate `gate` of cell j reads, in addition to
  /// the gate, so that the threads of a cell can share all values of the step.
  static LAMINA_INLINE LAMINA_FN float other(const arguments& a, const rows_of_sequence& rows,
                                             int s, int k, int gate, int j) {
    if (gate == 0) return a.activated.row(rows[k])[j];
    if (gate == 1) return a.d_hidden.row(rows[k])[j];
    if (gate == 2) return a.d_cell.row(rows[k])[j];
    if (k > 0) return a.cell.row(rows[k - 1])[j];
    return a.c0 ? a.c0.row(s)[j] : 0.0f;
  }
  template <class Team>
  static LAMINA_INLINE LAMINA_FN void walk(const arguments& a, int s, const Team& team, memory& m,
                                           const kept_lines<Team, shape>& weights) {
    const int n = a.n, length = a.steps.length(s);
    const rows_of_sequence rows(a.steps, s);
    struct {
      float gate, other;  // of the next step, loaded during this step
      float d_cell;       // gradient of the previous cell
    } of[shape::template lanes<Team>];
    const auto read = [&](int k, int lane, int gate, int j) {
      if (k < 0) return;
      of[lane].gate = a.gates.row(rows[k])[gate * n + j];
      of[lane].other = other(a, rows, s, k, gate, j);
    };
    shape::each(team, [&](int lane, int gate, int j) {
      of[lane].d_cell = 0;
      if (j < n)
        read(length - 1, lane, gate, j);
      else
        m.grads[gate][j] = 0;
    });
    LAMINA_CUDA_KEEP_LOOP
    for (int k = length; k-- > 0;) {
      shape::each(team, [&](int lane, int gate, int j) {
        if (j >= n) return;
        m.gates[gate][j] = of[lane].gate;
        m.others[gate][j] = of[lane].other;
        read(k - 1, lane, gate, j);
        if (k + 1 < length) m.sums[gate][j] = weights.times(lane, gate, j, m.grads[gate]);
      });
      team.barrier();
      shape::each(team, [&](int lane, int gate, int j) {
        if (gate != 0 || j >= n) return;
        const lstm_step step{{m.gates[0][j], m.gates[1][j], m.gates[2][j], m.gates[3][j]},
                             m.others[0][j],
                             m.others[3][j]};
        float dh = m.others[1][j];
        if (k + 1 < length) dh += sum_of_products(m, j);
        const lstm_grads d =
            lstm_step_grads<false>(a, rows[k], j, step, dh, m.others[2][j] + of[lane].d_cell);
        LAMINA_CUDA_UNROLL
        for (int q = 0; q < 4; ++q) m.grads[q][j] = d.gates[q];
        of[lane].d_cell = d.before;
      });
      team.barrier();
    }
    if (a.dh0 && length > 0)
      shape::each(team, [&](int lane, int gate, int j) {
        m.sums[gate][j] = weights.times(lane, gate, j, m.grads[gate]);
      });
    team.barrier();
    shape::each(team, [&](int lane, int gate, int j) {
      if (gate != 0 || j >= n) return;
      if (a.dh0) a.dh0.row(s)[j] = length > 0 ? sum_of_products(m, j) : 0.0f;
      if (a.dc0) a.dc0.row(s)[j] = of[lane].d_cell;
    });
    team.barrier();
  }

 private:
  static LAMINA_INLINE LAMINA_FN float sum_of_products(const memory& m, int j) {
    return (m.sums[0][j] + m.sums[1][j]) + (m.sums[2][j] + m.sums[3][j]);
  }
};

}}}  // namespace lamina::engine::cuda::detail
