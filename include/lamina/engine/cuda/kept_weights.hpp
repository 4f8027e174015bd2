// SPDX-License-Identifier: Apache-2.0
// lamina/engine/cuda/kept_weights.hpp - recurrences whose weights stay on the chip: a thread has
// one line of a matrix of a gate, for all steps of all sequences that its team walks along.
//
// A team has as many threads a gate as the weights are made for, whatever number of states there is
// up to that: 64, whose lines fit into registers, or 128, whose ends lie in shared memory. What a
// step hands to the next one goes through shared memory; no team waits for another.
#pragma once

#include <cstddef>

#include <lamina/engine/cuda/pack.hpp>
#include <lamina/engine/cuda/team.hpp>

namespace lamina::engine::cuda::detail {

/// A state, or its slope, that all threads read; zeros behind the last one.
template <int States>
struct shared_state {
  pack packs[States / pack_width];

  LAMINA_INLINE LAMINA_FN float& operator[](int i) {
    return packs[i / pack_width].v[i % pack_width];
  }
};

/// Where the lines of so many gates lie.
template <int States, int Gates>
struct kept_shape {
  static constexpr int states = States, threads = Gates * States;
  // A multiprocessor has 65,536 registers; what else a thread does takes some of its share.
  static constexpr int others = 44, share = 65536 / threads / 8 * 8 - others;
  static constexpr int in_registers = share < States ? share : States;
  static constexpr int in_memory = States - in_registers;
  static_assert(in_registers % pack_width == 0);
  /// Packs of shared memory behind what a team hands over.
  static constexpr int packs = in_memory / pack_width * threads;
};

/// A line of a matrix for each thread.
template <class Team, class Shape>
struct kept_lines {
  static constexpr int states = Shape::states, in_registers = Shape::in_registers;
  float of[Team::lanes][in_registers];
  pack* rest;  // the other terms, the same ones of all threads side by side

  /// The line of a thread, times a state.
  LAMINA_INLINE LAMINA_FN float times(const Team& team, int lane,
                                      const shared_state<states>& x) const {
    pack sums = filled(0.0f);
    LAMINA_CUDA_UNROLL
    for (int i = 0; i < in_registers / pack_width; ++i) {
      const pack p = x.packs[i];
      LAMINA_CUDA_UNROLL
      for (int j = 0; j < pack_width; ++j) sums.v[j] += p.v[j] * of[lane][i * pack_width + j];
    }
    LAMINA_CUDA_UNROLL
    for (int i = in_registers / pack_width; i < states / pack_width; ++i) {
      const pack p = x.packs[i], w = rest_of(team.rank(lane), i);
      LAMINA_CUDA_UNROLL
      for (int j = 0; j < pack_width; ++j) sums.v[j] += p.v[j] * w.v[j];
    }
    return (sums.v[0] + sums.v[1]) + (sums.v[2] + sums.v[3]);
  }
  LAMINA_INLINE LAMINA_FN pack& rest_of(int rank, int i) const {
    return rest[(i - in_registers / pack_width) * Shape::threads + rank];
  }
};

/// f(lane, gate, state) for each thread that the calling one stands for.
template <int States, class Team, class F>
LAMINA_INLINE LAMINA_FN void each_kept(const Team& team, const F& f) {
  LAMINA_CUDA_UNROLL
  for (int lane = 0; lane < Team::lanes; ++lane)
    f(lane, team.rank(lane) / States, team.rank(lane) % States);
}

/// Reads the lines of all threads: element i of one is Steps::weight(a, gate, state, i), 0 outside
/// of n by n. Where a line lies as one, Steps::weights() is a whole pack of it: neighbouring
/// threads read lines far apart.
template <class Steps, class Team, class Shape>
LAMINA_INLINE LAMINA_FN void keep_lines(const Team& team, kept_lines<Team, Shape>& to,
                                        const typename Steps::arguments& a) {
  constexpr int in_registers = Shape::in_registers / pack_width;
  const bool whole = a.n % pack_width == 0;
  each_kept<Shape::states>(team, [&](int lane, int gate, int state) {
    const auto terms = [&](int i) {
      pack p = filled(0.0f);
      if (state >= a.n) return p;
      if constexpr (requires { Steps::weights(a, gate, state, i); })
        if (whole) return i < a.n ? Steps::weights(a, gate, state, i) : p;
      LAMINA_CUDA_UNROLL
      for (int j = 0; j < pack_width; ++j)
        if (i + j < a.n) p.v[j] = Steps::weight(a, gate, state, i + j);
      return p;
    };
    LAMINA_CUDA_UNROLL
    for (int i = 0; i < in_registers; ++i) {
      const pack p = terms(i * pack_width);
      LAMINA_CUDA_UNROLL
      for (int j = 0; j < pack_width; ++j) to.of[lane][i * pack_width + j] = p.v[j];
    }
    LAMINA_CUDA_KEEP_LOOP
    for (int i = in_registers; i < Shape::states / pack_width; ++i)
      to.rest_of(team.rank(lane), i) = terms(i * pack_width);
  });
}

/// All sequences of a team, with lines that are read once.
template <class Steps, class Team>
LAMINA_INLINE LAMINA_FN void walk_all(const typename Steps::arguments& a, const Team& team,
                                      typename Steps::memory& m, pack* rest) {
  kept_lines<Team, typename Steps::shape> weights;
  weights.rest = rest;
  keep_lines<Steps>(team, weights, a);
  LAMINA_CUDA_KEEP_LOOP
  for (int s = team.index; s < a.lines; s += team.count) Steps::walk(a, s, team, m, weights);
}

/// Steps as the body of a kernel.
template <class Steps>
struct kept_body {
  using arguments = typename Steps::arguments;
  using shared = typename Steps::memory;
  static constexpr int threads = Steps::shape::threads;
  static int teams(const arguments& a) { return a.lines; }

  template <class Team>
  static LAMINA_INLINE LAMINA_FN void run(const arguments& a, const Team& team, shared& m) {
    walk_all<Steps>(a, team, m, nullptr);
  }
};
/// The same with parts of lines behind what a team hands over.
template <class Steps>
requires(Steps::shape::in_memory > 0) struct kept_body<Steps> {
  using arguments = typename Steps::arguments;
  using memory = typename Steps::memory;
  static constexpr int threads = Steps::shape::threads;
  static int teams(const arguments& a) { return a.lines; }
  static std::size_t shared_bytes(const arguments&) {
    return sizeof(memory) + sizeof(pack) * static_cast<std::size_t>(Steps::shape::packs);
  }

  template <class Team>
  static LAMINA_INLINE LAMINA_FN void run(const arguments& a, const Team& team, void* room) {
    memory* const m = static_cast<memory*>(room);
    walk_all<Steps>(a, team, *m, reinterpret_cast<pack*>(m + 1));
  }
};

/// By Steps<States> where the weights of n states are kept; false where they are too many.
template <template <int> class Steps, class Backend, class Arguments>
bool walk_with_kept_weights(Backend& b, const Arguments& a) {
  if (a.n > 128) return false;
  if (a.n <= 64)
    b.template teams<kept_body<Steps<64>>>(a);
  else
    b.template teams<kept_body<Steps<128>>>(a);
  return true;
}

}  // namespace lamina::engine::cuda::detail
