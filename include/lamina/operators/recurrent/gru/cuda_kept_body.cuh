// SPDX-License-Identifier: Apache-2.0
// lamina/operators/recurrent/gru/cuda_kept_body.cuh - the kernels of a gru with few states. Each
// thread computes one element of the update gate (0), the reset gate (1) or the candidate (2), and
// keeps the weights of this element on the chip (in registers and shared memory) for all steps.
#pragma once

#include <lamina/core/config.hpp>

#include <lamina/engine/cuda/body/kept_weights.cuh>
#include <lamina/operators/recurrent/gru/cuda_body.cuh>

namespace lamina { inline namespace LAMINA_ABI { namespace engine::cuda::detail {

template <int States>
struct kept_gru_steps {
  using shape = kept_shape<States, 3>;
  using arguments = gru_arguments;
  struct memory {
    shared_state<States> hidden, reset;
    float update[bound(States)];
  };
  static constexpr bool adjacent = false;

  static LAMINA_INLINE LAMINA_FN const float* weight(const arguments& a, int gate, int j, int i) {
    const int n = a.n;
    return a.weight.at(gate < 2 ? i * 2 * n + gate * n + j : 2 * n * n + i * n + j);
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
        input[lane].bias = a.bias != nullptr ? a.bias[gate * n + j] : 0.0f;
      }
      if (gate != 0) return;
      m.hidden[j] = j < n && a.h0 ? a.h0.row(s)[j] : 0.0f;
      m.reset[j] = 0;
    });
    team.barrier();
    LAMINA_CUDA_KEEP_LOOP
    for (int k = 0; k < length; ++k) {
      const int row = rows[k];
      const bool has_state = k > 0 || a.h0;
      // Returns the input plus the inner product of the thread's weights with the state h.
      const auto sum = [&](int lane, int gate, int j, const shared_state<States>& h) {
        const float x = input[lane].x + input[lane].bias;
        read(k + 1, lane, gate * n + j);
        return has_state ? x + weights.times(lane, gate, j, h) : x;
      };
      shape::each(team, [&](int lane, int gate, int j) {
        if (gate == 2 || j >= n) return;
        const float g = value_of(a.gate, sum(lane, gate, j, m.hidden));
        a.gates.row(row)[gate * n + j] = g;
        if (gate == 0)
          m.update[j] = g;
        else
          m.reset[j] = a.reset.row(row)[j] = has_state ? g * m.hidden[j] : 0.0f;
      });
      team.barrier();
      shape::each(team, [&](int lane, int gate, int j) {
        if (gate != 2 || j >= n) return;
        const float c = value_of(a.candidate, sum(lane, gate, j, m.reset));
        m.hidden[j] = gru_finish(a, row, j, m.update[j], c, m.hidden[j]);
      });
      team.barrier();
    }
  }
};

/// Computes the backward pass. Each thread keeps a row of the weight of one gate or of the
/// candidate.
template <int States>
struct kept_gru_grad_steps {
  using shape = kept_shape<States, 3>;
  using arguments = gru_arguments;
  struct memory {
    shared_state<States> grads[3];  // gradients of u, r and c
    float sums[2][bound(States)];   // gradients of u and r times the weight
    float past[bound(States)];      // gradient of h', without the gates' part
    float gates[3][bound(States)], before[bound(States)], d_hidden[bound(States)];
  };
  static constexpr bool adjacent = true;

  static LAMINA_INLINE LAMINA_FN const float* weight(const arguments& a, int gate, int j, int i) {
    const int n = a.n;
    return a.weight.at(gate < 2 ? j * 2 * n + gate * n + i : 2 * n * n + j * n + i);
  }
  template <class Team>
  static LAMINA_INLINE LAMINA_FN void walk(const arguments& a, int s, const Team& team, memory& m,
                                           const kept_lines<Team, shape>& weights) {
    const int n = a.n, length = a.steps.length(s);
    const rows_of_sequence rows(a.steps, s);
    struct {
      float gate, other;  // of the next step, loaded during this step
    } of[shape::template lanes<Team>];
    const auto read = [&](int k, int lane, int gate, int j) {
      if (k < 0) return;
      of[lane].gate = a.gates.row(rows[k])[gate * n + j];
      if (gate == 0)
        of[lane].other = k > 0 ? a.hidden.row(rows[k - 1])[j] : a.h0 ? a.h0.row(s)[j] : 0.0f;
      if (gate == 1) of[lane].other = a.d_hidden.row(rows[k])[j];
    };
    const auto multiply = [&](int lane, int gate, int j) {
      if (gate < 2) m.sums[gate][j] = weights.times(lane, gate, j, m.grads[gate]);
    };
    // Returns the gradient of state j before the step that was computed last.
    const auto back = [&](int j) { return m.past[j] + (m.sums[0][j] + m.sums[1][j]); };
    shape::each(team, [&](int lane, int gate, int j) {
      if (j < n)
        read(length - 1, lane, gate, j);
      else
        m.grads[gate][j] = 0;
    });
    LAMINA_CUDA_KEEP_LOOP
    for (int k = length; k-- > 0;) {
      const int row = rows[k];
      shape::each(team, [&](int lane, int gate, int j) {
        if (j >= n) return;
        m.gates[gate][j] = of[lane].gate;
        if (gate == 0) m.before[j] = of[lane].other;
        if (gate == 1) m.d_hidden[j] = of[lane].other;
        read(k - 1, lane, gate, j);
        if (k + 1 < length) multiply(lane, gate, j);
      });
      team.barrier();
      shape::each(team, [&](int, int gate, int j) {
        if (gate != 0 || j >= n) return;
        float dh = m.d_hidden[j];
        if (k + 1 < length) dh += back(j);
        const gru_grads d =
            gru_step_grads(a, row, j, m.gates[0][j], m.gates[2][j], m.before[j], dh);
        m.grads[0][j] = d.update;
        m.grads[2][j] = d.candidate;
        m.past[j] = d.before;
      });
      team.barrier();
      shape::each(team, [&](int lane, int gate, int j) {
        if (gate != 2 || j >= n) return;
        const float r = m.gates[1][j], d_reset = weights.times(lane, gate, j, m.grads[2]);
        m.grads[1][j] = a.d_gates.row(row)[n + j] = grad_of(a.gate, r, d_reset * m.before[j]);
        m.past[j] += d_reset * r;
      });
      team.barrier();
    }
    if (!a.dh0) return;
    if (length > 0) shape::each(team, [&](int lane, int gate, int j) { multiply(lane, gate, j); });
    team.barrier();
    shape::each(team, [&](int, int gate, int j) {
      if (gate == 0 && j < n) a.dh0.row(s)[j] = length > 0 ? back(j) : 0.0f;
    });
    team.barrier();
  }
};

}}}  // namespace lamina::engine::cuda::detail
