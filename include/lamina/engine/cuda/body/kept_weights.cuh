// SPDX-License-Identifier: Apache-2.0
// lamina/engine/cuda/body/kept_weights.cuh - recurrences whose weights stay on the chip: each
// thread of a team keeps one line of the matrix of a gate for all steps of all sequences of its
// team.
//
// A team has one thread per state of each gate. Steps exchange their states through shared memory;
// no team waits for another.
#pragma once

#include <lamina/core/config.hpp>

#include <lamina/engine/cuda/body/pack.cuh>
#include <lamina/engine/cuda/body/team.cuh>

namespace lamina::inline LAMINA_ABI::engine::cuda::detail {

/// A state, or its gradient, that all threads read. The elements after the last state are zeros.
template <int States>
struct shared_state {
  pack packs[States / pack_width];

  LAMINA_INLINE LAMINA_FN float& operator[](int i) {
    return packs[i / pack_width].v[i % pack_width];
  }
};

/// How the lines of `Gates` matrices of `States` by `States` are stored: as much of each line as
/// fits in a thread's registers, the rest in shared memory.
template <int States, int Gates>
struct kept_shape {
  static constexpr int states = States, threads = Gates * States;
  // A multiprocessor has 65,536 registers; each thread needs 44 for its computation.
  static constexpr int share = 65536 / threads / 8 * 8 - 44;
  static constexpr int in_registers = share < States ? share : States;
  static_assert(in_registers % pack_width == 0);
  /// Packs of each line in shared memory.
  static constexpr int rest = (States - in_registers) / pack_width;

  /// The number of team threads whose work the calling thread does: one on a device, more on the
  /// host.
  template <class Team>
  static constexpr int lanes = threads / Team::threads;
  struct position {
    int gate, state;
  };
  template <class Team>
  static LAMINA_INLINE LAMINA_FN position position_of(const Team& team, int lane) {
    const int rank = lane * Team::threads + team.rank();
    return {rank / States, rank % States};
  }
  /// Calls f(lane, gate, state) for each of them.
  template <class Team, class F>
  static LAMINA_INLINE LAMINA_FN void each(const Team& team, const F& f) {
    LAMINA_CUDA_UNROLL
    for (int lane = 0; lane < lanes<Team>; ++lane) {
      const position p = position_of(team, lane);
      f(lane, p.gate, p.state);
    }
  }
};

/// The line of each thread.
template <class Team, class Shape>
struct kept_lines {
  static constexpr int packs = Shape::states / pack_width;
  static constexpr int in_registers = Shape::in_registers / pack_width;
  pack of[Shape::template lanes<Team>][in_registers];
  // The remaining packs, in an order in which the packs with the same index of all threads are
  // adjacent in memory.
  pack (*rest)[Shape::threads];

  /// Reads the lines: element i of a line is *Steps::weight(a, gate, state, i), and 0 outside of n
  /// by n.
  template <class Steps>
  LAMINA_INLINE LAMINA_FN void read(const Team& team, const typename Steps::arguments& a) {
    // Not a function object: clang would not inline one of this length, and the lines would leave
    // the registers.
    LAMINA_CUDA_UNROLL
    for (int lane = 0; lane < Shape::template lanes<Team>; ++lane) {
      const auto [gate, state] = Shape::position_of(team, lane);
      LAMINA_CUDA_UNROLL
      for (int i = 0; i < in_registers; ++i) of[lane][i] = read<Steps>(a, gate, state, i);
      LAMINA_CUDA_KEEP_LOOP
      for (int i = in_registers; i < packs; ++i)
        rest[i - in_registers][gate * Shape::states + state] = read<Steps>(a, gate, state, i);
    }
  }
  /// The line of a thread times a state.
  LAMINA_INLINE LAMINA_FN float times(int lane, int gate, int state,
                                      const shared_state<Shape::states>& x) const {
    pack sums = filled(0.0f);
    const auto add = [&](const pack& w, const pack& v) {
      LAMINA_CUDA_UNROLL
      for (int j = 0; j < pack_width; ++j) sums.v[j] += v.v[j] * w.v[j];
    };
    LAMINA_CUDA_UNROLL
    for (int i = 0; i < in_registers; ++i) add(of[lane][i], x.packs[i]);
    LAMINA_CUDA_UNROLL
    for (int i = in_registers; i < packs; ++i)
      add(rest[i - in_registers][gate * Shape::states + state], x.packs[i]);
    return (sums.v[0] + sums.v[1]) + (sums.v[2] + sums.v[3]);
  }

 private:
  template <class Steps>
  static LAMINA_INLINE LAMINA_FN pack read(const typename Steps::arguments& a, int gate, int state,
                                           int number) {
    pack p = filled(0.0f);
    const int first = number * pack_width;
    if (state >= a.n || first >= a.n) return p;
    // If the lines of neighbouring threads are far apart, each thread reads whole packs.
    if (Steps::adjacent && a.n % pack_width == 0)
      return load_constant(Steps::weight(a, gate, state, first));
    LAMINA_CUDA_UNROLL
    for (int j = 0; j < pack_width; ++j)
      if (first + j < a.n) p.v[j] = *Steps::weight(a, gate, state, first + j);
    return p;
  }
};

/// The body of a kernel: a team reads its lines, then runs the steps of its sequences.
template <class Steps>
struct kept_body {
  using arguments = typename Steps::arguments;
  using shape = typename Steps::shape;
  struct shared {
    typename Steps::memory steps;
    pack rest[shape::rest > 0 ? shape::rest : 1][shape::threads];
  };
  static constexpr int threads = shape::threads;
  static constexpr bool any_team = true;  // teams of the host have fewer threads
  static int teams(const arguments& a) { return a.lines; }

  template <class Team>
  static LAMINA_INLINE LAMINA_FN void run(const arguments& a, const Team& team, shared& m) {
    kept_lines<Team, shape> weights;
    weights.rest = m.rest;
    weights.template read<Steps>(team, a);
    LAMINA_CUDA_KEEP_LOOP
    for (int s = team.index; s < a.lines; s += team.count)
      Steps::walk(a, s, team, m.steps, weights);
  }
};

/// Runs the recurrence by Steps<States> if a team can keep the weights of n states; otherwise
/// returns false. Registers limit n to 128: the weights of an lstm are 4 * 128 * 128 floats then,
/// 256 KB, which is the size of a multiprocessor's register file. 168 KB of them are in registers
/// and 88 KB in shared memory, of which a block can have at least 99 KB (sm_86). The weights of 256
/// states would be 1 MB.
template <template <int> class Steps, class Backend, class Arguments>
bool walk_with_kept_weights(Backend& b, const Arguments& a) {
  const auto walk = [&]<class Body>(Body) {
    if (!b.template fits<Body>()) return false;
    b.template teams<Body>(a);
    return true;
  };
  if (a.n <= 64) return walk(kept_body<Steps<64>>{});
  return a.n <= 128 && walk(kept_body<Steps<128>>{});
}

}  // namespace lamina::inline LAMINA_ABI::engine::cuda::detail
