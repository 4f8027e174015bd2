// SPDX-License-Identifier: Apache-2.0
// lamina/engine/cuda/kept_lstm_body.hpp - an lstm of few cells: weights stay on the chip, a thread
// has one gate of a cell.
#pragma once

#include <lamina/engine/cuda/kept_weights.hpp>
#include <lamina/engine/cuda/lstm_body.hpp>

namespace lamina::engine::cuda::detail {

/// What threads of a team hand over.
template <int States>
struct kept_lstm_memory {
  shared_state<States> state;      // forward: the hidden one
  shared_state<States> slopes[4];  // backward: of the gates of the step behind
  float gates[4][States];
  float cell[States];
};

template <int States>
struct kept_lstm_steps {
  using shape = kept_shape<States, 4>;
  using arguments = lstm_arguments;
  using memory = kept_lstm_memory<States>;

  static LAMINA_INLINE LAMINA_FN float weight(const arguments& a, int gate, int j, int i) {
    return a.weight.row(i)[gate * a.n + j];
  }
  template <class Team>
  static LAMINA_INLINE LAMINA_FN void walk(const arguments& a, int s, const Team& team, memory& m,
                                           const kept_lines<Team, shape>& weights) {
    const int n = a.n, length = a.steps.length(s);
    float next[Team::lanes];  // of the input, read while the step before computes
    each_kept<States>(team, [&](int lane, int gate, int j) {
      next[lane] = j < n && length > 0 ? a.x.row(a.steps.row(s, 0))[gate * n + j] : 0.0f;
      if (gate != 0) return;
      m.state[j] = j < n && a.h0 ? a.h0.row(s)[j] : 0.0f;
      m.cell[j] = j < n && a.c0 ? a.c0.row(s)[j] : 0.0f;
    });
    team.barrier();
    LAMINA_CUDA_KEEP_LOOP
    for (int k = 0; k < length; ++k) {
      const int row = a.steps.row(s, k);
      each_kept<States>(team, [&](int lane, int gate, int j) {
        float g = next[lane];
        if (j < n && k + 1 < length) next[lane] = a.x.row(a.steps.row(s, k + 1))[gate * n + j];
        g += weights.times(team, lane, m.state);
        if (j >= n) return;
        g += a.bias[gate * n + j];
        if (a.peepholes != nullptr && (gate == 1 || gate == 2))
          g += a.peepholes[(gate - 1) * n + j] * m.cell[j];
        // The one of the output waits for the new cell.
        if (gate < 3 || a.peepholes == nullptr) g = value_of(gate == 0 ? a.candidate : a.gate, g);
        m.gates[gate][j] = g;
        if (a.gates && gate < 3) a.gates.row(row)[gate * n + j] = g;
      });
      team.barrier();
      each_kept<States>(team, [&](int, int gate, int j) {
        if (gate == 0 && j < n) update(a, row, j, m);
      });
      team.barrier();
    }
  }
  static LAMINA_INLINE LAMINA_FN void update(const arguments& a, int row, int j, memory& m) {
    const int n = a.n;
    const float now = m.gates[2][j] * m.cell[j] + m.gates[1][j] * m.gates[0][j];
    float out = m.gates[3][j];
    if (a.peepholes != nullptr) out = value_of(a.gate, out + a.peepholes[2 * n + j] * now);
    const float activated = value_of(a.of_cell, now);
    m.cell[j] = a.cell.row(row)[j] = now;
    m.state[j] = a.hidden.row(row)[j] = out * activated;
    if (a.activated) a.activated.row(row)[j] = activated;
    if (a.gates) a.gates.row(row)[3 * n + j] = out;
  }
};

/// The way back: of its row of the weight a thread has the part of one gate.
template <int States>
struct kept_lstm_slope_steps {
  using shape = kept_shape<States, 4>;
  using arguments = lstm_arguments;
  using memory = kept_lstm_memory<States>;

  static LAMINA_INLINE LAMINA_FN float weight(const arguments& a, int gate, int j, int i) {
    return a.weight.row(j)[gate * a.n + i];
  }
  static LAMINA_INLINE LAMINA_FN pack weights(const arguments& a, int gate, int j, int i) {
    return load_constant(a.weight.row(j) + gate * a.n + i);
  }
  template <class Team>
  static LAMINA_INLINE LAMINA_FN void walk(const arguments& a, int s, const Team& team, memory& m,
                                           const kept_lines<Team, shape>& weights) {
    const int n = a.n, length = a.steps.length(s);
    const auto sum_up = [&] {
      each_kept<States>(team, [&](int lane, int gate, int j) {
        m.gates[gate][j] = weights.times(team, lane, m.slopes[gate]);
      });
      team.barrier();
    };
    each_kept<States>(team, [&](int, int gate, int j) {
      m.slopes[gate][j] = 0;
      if (gate == 0) m.cell[j] = 0;
    });
    team.barrier();
    LAMINA_CUDA_KEEP_LOOP
    for (int k = length; k-- > 0;) {
      sum_up();
      const int row = a.steps.row(s, k);
      const float* const before = k > 0  ? a.cell.row(a.steps.row(s, k - 1))
                                  : a.c0 ? a.c0.row(s)
                                         : nullptr;
      each_kept<States>(team, [&](int, int gate, int j) {
        if (gate == 0 && j < n) step(a, row, j, before, m);
      });
      team.barrier();
    }
    if (a.dh0) sum_up();
    each_kept<States>(team, [&](int, int gate, int j) {
      if (gate != 0 || j >= n) return;
      if (a.dh0) a.dh0.row(s)[j] = back_to(m, j);
      if (a.dc0) a.dc0.row(s)[j] = m.cell[j];
    });
    team.barrier();
  }
  static LAMINA_INLINE LAMINA_FN float back_to(const memory& m, int j) {
    return (m.gates[0][j] + m.gates[1][j]) + (m.gates[2][j] + m.gates[3][j]);
  }
  static LAMINA_INLINE LAMINA_FN void step(const arguments& a, int row, int j, const float* before,
                                           memory& m) {
    const int n = a.n;
    const float* const g = a.gates.row(row) + j;
    const float x = g[0], i = g[n], f = g[2 * n], o = g[3 * n];
    const float activated = a.activated.row(row)[j], old = before != nullptr ? before[j] : 0.0f;
    const float dh = a.d_hidden.row(row)[j] + back_to(m, j);
    const float d_o = slope_of(a.gate, o, dh * activated);
    float dc = a.d_cell.row(row)[j] + m.cell[j] + slope_of(a.of_cell, activated, dh * o);
    if (a.peepholes != nullptr) dc += a.peepholes[2 * n + j] * d_o;
    const float d[4] = {slope_of(a.candidate, x, dc * i), slope_of(a.gate, i, dc * x),
                        slope_of(a.gate, f, dc * old), d_o};
    float back = dc * f;
    if (a.peepholes != nullptr) back += a.peepholes[j] * d[1] + a.peepholes[n + j] * d[2];
    m.cell[j] = back;
    LAMINA_CUDA_UNROLL
    for (int q = 0; q < 4; ++q) m.slopes[q][j] = a.d_gates.row(row)[q * n + j] = d[q];
  }
};

}  // namespace lamina::engine::cuda::detail
