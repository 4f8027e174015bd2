// SPDX-License-Identifier: Apache-2.0
// lamina/engine/cuda/body/kept_weights.cuh - recurrent layers whose weights stay on the chip. Each
// gate has a weight matrix; each thread of a team keeps one line of one such matrix for all time
// steps of all sequences of its team.
//
// A team has one thread per state element and gate. Time steps exchange states through shared
// memory. No team waits for another team.
#pragma once

#include <lamina/core/config.hpp>

#include <lamina/engine/cuda/body/pack.cuh>
#include <lamina/engine/cuda/body/team.cuh>

namespace lamina { inline namespace LAMINA_ABI { namespace engine::cuda::detail {

/// The state vector, or its gradient, that all threads of a team read. Elements past the last state
/// element are zeros.
template <int States>
struct shared_state {
  pack packs[bound(States / pack_width)];

  LAMINA_INLINE LAMINA_FN float& operator[](int i) {
    return packs[i / pack_width].v[i % pack_width];
  }
};

/// How the lines of `Gates` matrices of `States` x `States` floats are stored. A thread's registers
/// hold as much of its line as fits, shared memory holds the rest.
template <int States, int Gates>
struct kept_shape {
  static constexpr int states = States, threads = Gates * States;
  // A multiprocessor has 65,536 registers; each thread needs 44 for its computation.
  static constexpr int registers = 65536 / threads / 8 * 8 - 44;
  static constexpr int in_registers = registers < States ? registers : States;
  static_assert(in_registers % pack_width == 0);
  /// The number of packs of each line in shared memory.
  static constexpr int rest = (States - in_registers) / pack_width;

  /// The number of lines that each thread of a team handles: one on a device, more on the host,
  /// where a team has fewer threads.
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
  /// Calls f(lane, gate, state) for each line that the calling thread handles.
  template <class Team, class F>
  static LAMINA_INLINE LAMINA_FN void each(const Team& team, const F& f) {
    LAMINA_CUDA_UNROLL
    for (int lane = 0; lane < lanes<Team>; ++lane) {
      const position p = position_of(team, lane);
      f(lane, p.gate, p.state);
    }
  }
};

/// The lines of weights that the calling thread keeps.
template <class Team, class Shape>
struct kept_lines {
  static constexpr int packs = Shape::states / pack_width;
  static constexpr int in_registers = Shape::in_registers / pack_width;
  pack of[Shape::template lanes<Team>][bound(in_registers)];
  // The packs that do not fit in registers, in shared memory. Packs of all threads with the same
  // index are adjacent.
  pack (*rest)[Shape::threads];

  /// Reads the lines from global memory. Element i of a line is *Steps::weight(a, gate, state, i),
  /// or 0 outside of the n x n matrix.
  template <class Steps>
  LAMINA_INLINE LAMINA_FN void read(const Team& team, const typename Steps::arguments& a) {
    // The loop does not use each(), because clang would not inline a function object of this
    // length, and the lines would not stay in registers.
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
  /// Returns the dot product of a line and the state vector `x`.
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
    // If the elements of a line are adjacent in memory, the lines of neighbouring threads are far
    // apart, so each thread reads whole packs.
    if (Steps::adjacent && a.n % pack_width == 0)
      return load_constant(Steps::weight(a, gate, state, first));
    LAMINA_CUDA_UNROLL
    for (int j = 0; j < pack_width; ++j)
      if (first + j < a.n) p.v[j] = *Steps::weight(a, gate, state, first + j);
    return p;
  }
};

/// The body of a kernel: a team reads its lines of weights, then runs the time steps of its
/// sequences.
template <class Steps>
struct kept_body {
  using arguments = typename Steps::arguments;
  using shape = typename Steps::shape;
  struct shared {
    typename Steps::memory steps;
    pack rest[shape::rest > 0 ? shape::rest : 1][shape::threads];
  };
  static constexpr int threads = shape::threads;
  static constexpr bool any_team = true;  // on the host, teams have fewer threads
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

/// Runs a recurrence by Steps<States> if a team can keep the weights of n states; otherwise returns
/// false. Registers limit n to 128: the weights of an lstm are then 4 * 128 * 128 floats, or 256
/// KB, the size of a multiprocessor's register file. 168 KB of these weights are in registers and
/// 88 KB in shared memory; a block can have at least 99 KB of shared memory (sm_86). The weights of
/// 256 states would take 1 MB.
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

}}}  // namespace lamina::engine::cuda::detail
