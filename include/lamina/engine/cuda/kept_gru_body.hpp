// SPDX-License-Identifier: Apache-2.0
// lamina/engine/cuda/kept_gru_body.hpp - a gru of few states: weights stay on the chip, a thread
// has a state of the update gate, of the reset gate or of the candidate.
#pragma once

#include <lamina/engine/cuda/gru_body.hpp>
#include <lamina/engine/cuda/kept_weights.hpp>

namespace lamina::engine::cuda::detail {

/// What threads of a team hand over.
template <int States>
struct kept_gru_memory {
  shared_state<States> state, reset;  // forward
  shared_state<States> slopes[3];     // backward: of both gates and the candidate
  float update[States];
  float back[States], sums[2][States];
};

template <int States>
struct kept_gru_steps {
  using shape = kept_shape<States, 3>;
  using arguments = gru_arguments;
  using memory = kept_gru_memory<States>;

  static LAMINA_INLINE LAMINA_FN float weight(const arguments& a, int gate, int j, int i) {
    return gate < 2 ? a.weight.gate(i, gate * a.n + j) : a.weight.candidate(i, j);
  }
  template <class Team>
  static LAMINA_INLINE LAMINA_FN void walk(const arguments& a, int s, const Team& team, memory& m,
                                           const kept_lines<Team, shape>& weights) {
    const int n = a.n, length = a.steps.length(s);
    float next[Team::lanes];  // of the input, read while the step before computes
    each_kept<States>(team, [&](int lane, int gate, int j) {
      next[lane] = j < n && length > 0 ? a.input(a.steps.row(s, 0), gate * n + j) : 0.0f;
      if (gate != 0) return;
      m.state[j] = j < n && a.h0 ? a.h0.row(s)[j] : 0.0f;
      m.reset[j] = 0;
    });
    team.barrier();
    LAMINA_CUDA_KEEP_LOOP
    for (int k = 0; k < length; ++k) {
      const int row = a.steps.row(s, k);
      const auto read_next = [&](int lane, int gate, int j) {
        const float x = next[lane];
        if (j < n && k + 1 < length) next[lane] = a.input(a.steps.row(s, k + 1), gate * n + j);
        return x;
      };
      each_kept<States>(team, [&](int lane, int gate, int j) {
        if (gate == 2) return;
        const float x = read_next(lane, gate, j);
        const float g = value_of(a.gate, x + weights.times(team, lane, m.state));
        if (j >= n) return;
        a.gates.row(row)[gate * n + j] = g;
        if (gate == 0)
          m.update[j] = g;
        else
          m.reset[j] = a.reset.row(row)[j] = g * m.state[j];
      });
      team.barrier();
      each_kept<States>(team, [&](int lane, int gate, int j) {
        if (gate != 2) return;
        const float x = read_next(lane, gate, j);
        const float c = value_of(a.candidate, x + weights.times(team, lane, m.reset));
        if (j >= n) return;
        const float u = m.update[j], before = m.state[j];
        a.gates.row(row)[2 * n + j] = c;
        m.state[j] = a.hidden.row(row)[j] =
            a.origin_mode ? c + u * (before - c) : before + u * (c - before);
      });
      team.barrier();
    }
  }
};

/// The way back: of its row of the weight a thread has the part of one gate or the candidate.
template <int States>
struct kept_gru_slope_steps {
  using shape = kept_shape<States, 3>;
  using arguments = gru_arguments;
  using memory = kept_gru_memory<States>;

  static LAMINA_INLINE LAMINA_FN float weight(const arguments& a, int gate, int j, int i) {
    return gate < 2 ? a.weight.gate(j, gate * a.n + i) : a.weight.candidate(j, i);
  }
  static LAMINA_INLINE LAMINA_FN pack weights(const arguments& a, int gate, int j, int i) {
    return load_constant(gate < 2 ? a.weight.at(j * 2 * a.n + gate * a.n + i)
                                  : a.weight.at(2 * a.n * a.n + j * a.n + i));
  }
  template <class Team>
  static LAMINA_INLINE LAMINA_FN void walk(const arguments& a, int s, const Team& team, memory& m,
                                           const kept_lines<Team, shape>& weights) {
    const int n = a.n, length = a.steps.length(s);
    each_kept<States>(team, [&](int, int gate, int j) {
      m.slopes[gate][j] = 0;
      if (gate < 2) m.sums[gate][j] = 0;
      if (gate == 0) m.back[j] = 0;
    });
    team.barrier();
    LAMINA_CUDA_KEEP_LOOP
    for (int k = length; k-- > 0;) {
      const int row = a.steps.row(s, k);
      const float* const h = k > 0  ? a.hidden.row(a.steps.row(s, k - 1))
                             : a.h0 ? a.h0.row(s)
                                    : nullptr;
      each_kept<States>(team, [&](int, int gate, int j) {
        if (gate == 0 && j < n) begin(a, row, j, h, m);
      });
      team.barrier();
      each_kept<States>(team, [&](int lane, int gate, int j) {
        if (gate != 2) return;
        const float d_reset = weights.times(team, lane, m.slopes[2]);
        if (j >= n) return;
        const float r = a.gates.row(row)[n + j], before = h != nullptr ? h[j] : 0.0f;
        m.slopes[1][j] = a.d_gates.row(row)[n + j] = slope_of(a.gate, r, d_reset * before);
        m.back[j] += d_reset * r;
      });
      team.barrier();
      each_kept<States>(team, [&](int lane, int gate, int j) {
        if (gate < 2) m.sums[gate][j] = weights.times(team, lane, m.slopes[gate]);
      });
      team.barrier();
    }
    each_kept<States>(team, [&](int, int gate, int j) {
      if (a.dh0 && gate == 0 && j < n) a.dh0.row(s)[j] = m.back[j] + (m.sums[0][j] + m.sums[1][j]);
    });
    team.barrier();
  }
  /// The slopes of the update gate and of the candidate, and what goes past both.
  static LAMINA_INLINE LAMINA_FN void begin(const arguments& a, int row, int j, const float* h,
                                            memory& m) {
    const float* const g = a.gates.row(row);
    const int n = a.n;
    const float u = g[j], c = g[2 * n + j], before = h != nullptr ? h[j] : 0.0f;
    const float dh = m.back[j] + (m.sums[0][j] + m.sums[1][j]) + a.d_hidden.row(row)[j];
    const float share = a.origin_mode ? 1 - u : u;
    const float difference = a.origin_mode ? before - c : c - before;
    m.slopes[0][j] = a.d_gates.row(row)[j] = slope_of(a.gate, u, dh * difference);
    m.slopes[2][j] = a.d_gates.row(row)[2 * n + j] = slope_of(a.candidate, c, dh * share);
    m.back[j] = dh - dh * share;
  }
};

}  // namespace lamina::engine::cuda::detail
