// SPDX-License-Identifier: Apache-2.0
// lamina/engine/cuda/kept_weights.hpp - recurrences whose weights stay in registers: a thread has
// one line of a matrix of a gate, for all steps of all sequences that its team walks along.
//
// A team has 64 threads a gate, whatever number of states there is up to that. What a step hands to
// the next one goes through shared memory; no team waits for another.
#pragma once

#include <lamina/engine/cuda/pack.hpp>
#include <lamina/engine/cuda/team.hpp>

namespace lamina::engine::cuda::detail {

/// The most states whose weights are kept.
inline constexpr int kept_states = 64;
inline bool keeps_weights(int states) { return states <= kept_states; }

/// A state, or its slope, that all threads read; zeros behind the last one.
struct shared_state {
  pack packs[kept_states / pack_width];

  LAMINA_INLINE LAMINA_FN float& operator[](int i) {
    return packs[i / pack_width].v[i % pack_width];
  }
};

/// A line of a matrix for each thread.
template <class Team>
struct kept_lines {
  float of[Team::lanes][kept_states];

  /// The line of a thread, times a state.
  LAMINA_INLINE LAMINA_FN float times(int lane, const shared_state& x) const {
    pack sums = filled(0.0f);
    LAMINA_CUDA_UNROLL
    for (int i = 0; i < kept_states / pack_width; ++i) {
      const pack p = x.packs[i];
      LAMINA_CUDA_UNROLL
      for (int j = 0; j < pack_width; ++j) sums.v[j] += p.v[j] * of[lane][i * pack_width + j];
    }
    return (sums.v[0] + sums.v[1]) + (sums.v[2] + sums.v[3]);
  }
};

/// f(lane, gate, state) for each thread that the calling one stands for.
template <class Team, class F>
LAMINA_INLINE LAMINA_FN void each_kept(const Team& team, const F& f) {
  LAMINA_CUDA_UNROLL
  for (int lane = 0; lane < Team::lanes; ++lane)
    f(lane, team.rank(lane) / kept_states, team.rank(lane) % kept_states);
}

/// Reads the lines of all threads: element i of one is weight(gate, state, i), 0 outside of n by n.
template <class Team, class Weight>
LAMINA_INLINE LAMINA_FN void keep_lines(const Team& team, kept_lines<Team>& to, int n,
                                        const Weight& weight) {
  each_kept(team, [&](int lane, int gate, int state) {
    LAMINA_CUDA_UNROLL
    for (int i = 0; i < kept_states; ++i)
      to.of[lane][i] = state < n && i < n ? weight(gate, state, i) : 0.0f;
  });
}

}  // namespace lamina::engine::cuda::detail
