// SPDX-License-Identifier: Apache-2.0
// lamina/engine/cuda/body/element_loops.cuh - computes the offsets of an element in several arrays
// of the same shape from its index, in place of nested loops.
#pragma once

#include <lamina/core/config.hpp>

#include <cstddef>
#include <limits>

#include <lamina/engine/cuda/body/divider.cuh>
#include <lamina/engine/cuda/body/pack.cuh>
#include <lamina/engine/cuda/schedule/call_context.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace engine::cuda {

/// The nested loops over K arrays as kernel arguments: at(i) returns the offsets of element i in
/// each array. The innermost index changes fastest.
template <int K>
struct element_loops {
  static constexpr int most = 12;
  int rank = 0, count = 1;
  divider extent[most];
  std::ptrdiff_t step[most][bound(K)];

  element_loops() = default;
  template <int N>
  requires(N >= K) element_loops(const operator_call& c, const loop_nest<N>& loops)
      : rank(loops.rank) {
    if (rank > most) fail(c, {"expected at most ", most, " dimensions apart, found ", rank});
    std::ptrdiff_t all = loops.is_empty ? 0 : 1;
    for (int d = 0; d < rank; ++d) {
      all *= loops.extent[d];
      extent[d] = divider(static_cast<int>(loops.extent[d]));
      for (int k = 0; k < K; ++k) step[d][k] = loops.step[k][d];
    }
    constexpr std::ptrdiff_t largest = (std::numeric_limits<int>::max)() / 2;
    if (all > largest) fail(c, {"expected at most ", largest, " elements, found ", all});
    count = static_cast<int>(all);
  }

  struct positions {
    std::ptrdiff_t of[bound(K)];
  };
  LAMINA_INLINE LAMINA_FN positions at(int i) const {
    positions p{};
    for (int d = rank; d-- > 0;) {
      const int outer = extent[d].quotient(i), index = i - outer * extent[d].divisor();
      LAMINA_CUDA_UNROLL
      for (int k = 0; k < K; ++k) p.of[k] += index * step[d][k];
      i = outer;
    }
    return p;
  }
};

/// The body of a kernel in which one team computes each line.
template <class Kernel>
struct team_lines {
  using arguments = typename Kernel::arguments;
  template <class Team>
  static LAMINA_INLINE LAMINA_FN void run(const arguments& a, const Team& team) {
    for (int i = team.index; i < a.lines; i += team.count) Kernel::line(a, i, team);
  }
};
/// The body of a kernel in which one thread computes each line.
template <class Kernel>
struct thread_lines {
  using arguments = typename Kernel::arguments;
  static LAMINA_INLINE LAMINA_FN void run(const arguments& a, int i) {
    Kernel::line(a, i, serial_team{});
  }
};

/// Launches a kernel that computes lines of `width` elements. It uses one thread per line if lines
/// are short, or if there are many lines and neighbouring lines are adjacent in memory; otherwise
/// one team per line.
template <class Kernel, class Backend>
void run_lines(Backend& b, typename Kernel::arguments& a, int lines, int width, bool side_by_side) {
  constexpr int many = 1024, few_terms = 4;
  a.lines = a.count = lines;
  a.width = width;
  if (width <= few_terms || (side_by_side && lines >= many))
    b.template elements<thread_lines<Kernel>>(a);
  else if (lines > 0)
    b.template lines<team_lines<Kernel>>(a);
}

}}}  // namespace lamina::engine::cuda
