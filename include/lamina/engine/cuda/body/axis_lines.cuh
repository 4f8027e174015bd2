// SPDX-License-Identifier: Apache-2.0
// lamina/engine/cuda/body/axis_lines.cuh - addresses the lines of elements along one dimension of
// several arrays.
#pragma once

#include <lamina/core/config.hpp>

#include <lamina/engine/cuda/body/element_loops.cuh>

namespace lamina { inline namespace LAMINA_ABI { namespace engine::cuda::detail {

/// The lines along one dimension of K arrays of the same shape: `firsts` gives the first element of
/// each line, `step` the stride along the lines in each array. Each line has `n` elements.
template <int K>
struct axis_lines {
  element_loops<K> firsts;
  std::ptrdiff_t step[bound(K)];
  int n;
  bool side_by_side;  // array 0 has adjacent lines, but strided elements in a line

  axis_lines() = default;
  axis_lines(const call_context& c, int axis, const operand (&arrays)[bound(K)]) {
    array_layout layout[bound(K)];
    for (int k = 0; k < K; ++k) layout[k] = layout_of(arrays[k]);
    const int rank = layout[0].rank, along = dimension_of(c, axis, rank);
    loop_nest<K> lines;
    for (int d = 0; d < rank; ++d) {
      std::ptrdiff_t s[bound(K)];
      for (int k = 0; k < K; ++k) s[k] = layout[k].step[d];
      if (d != along) lines.add_all(layout[0].extent[d], s);
    }
    for (int k = 0; k < K; ++k) step[k] = layout[k].step[along];
    n = static_cast<int>(layout[0].extent[along]);
    side_by_side = step[0] != 1;
    firsts = element_loops<K>(c, lines);
  }
};

/// Numbers all elements of the lines consecutively, line by line, so that one thread can compute
/// one element.
template <int K>
struct operand_lines {
  element_loops<K> firsts;
  std::ptrdiff_t step[bound(K)];
  divider n;
  int count;

  operand_lines() = default;
  operand_lines(const call_context& c, int axis, const operand (&arrays)[bound(K)]) {
    const axis_lines<K> lines(c, axis, arrays);
    firsts = lines.firsts;
    for (int k = 0; k < K; ++k) step[k] = lines.step[k];
    n = divider(at_least_one(lines.n));
    count = lines.n * firsts.count;
  }
  /// position() returns the index of element i in its line, at() its offset in each array.
  LAMINA_INLINE LAMINA_FN int position(int i) const { return i - n.quotient(i) * n.divisor(); }
  LAMINA_INLINE LAMINA_FN typename element_loops<K>::positions at(int i) const {
    const int line = n.quotient(i), k = i - line * n.divisor();
    auto p = firsts.at(line);
    LAMINA_CUDA_UNROLL
    for (int j = 0; j < K; ++j) p.of[j] += k * step[j];
    return p;
  }
};

}}}  // namespace lamina::engine::cuda::detail
