// SPDX-License-Identifier: Apache-2.0
// lamina/operators/sequence/cuda.cuh - copies of rows, shared by all sequence operators.
#pragma once

#include <lamina/core/config.hpp>

#include <lamina/core/pooling_type.hpp>
#include <lamina/engine/cuda/body/element_loops.cuh>
#include <lamina/engine/cuda/body/part_copy.cuh>

namespace lamina { inline namespace LAMINA_ABI { namespace engine::cuda::detail {

/// Arrays with one row per element of a sequence, and arrays with one row per sequence.
struct sequence_arguments {
  sequence_view all;
  argument_view in[3], out[2];
  divider columns;  // columns of the arrays with one row per element
  pooling_type type;
  float pad;
  int bytes;
  int lines, width, count;
};

/// Runs a kernel with one team per sequence. `domain` is the domain of the sequences, `like` an
/// array with one row per element.
template <class Kernel, class Backend>
void run_sequences(Backend& b, const call_context& c, typename Kernel::arguments a, int domain,
                   const operand& like) {
  a.all = c.sequences(domain);
  a.columns = divider(like.columns);
  a.bytes = size_of(like.type);
  a.lines = a.count = a.all.count;
  // Estimates the work per sequence from the average length.
  a.width = a.lines > 0 ? like.rows / a.lines * like.columns : 0;
  if (a.lines > 0) b.template lines<team_lines<Kernel>>(a);
}

/// Copies row s of an array with one row per sequence to each row of sequence s. With Reverse,
/// copies to each row the row at the same distance from the other end of the sequence.
template <bool Reverse>
struct sequence_copy_lines {
  using arguments = sequence_arguments;
  template <class Team>
  static LAMINA_INLINE LAMINA_FN void line(const arguments& a, int s, const Team& team) {
    const int begin = a.all.begin(s), end = a.all.end(s);
    LAMINA_CUDA_KEEP_LOOP
    for (int i = team.rank(); i < (end - begin) * a.columns.divisor(); i += team.size()) {
      int j = i;
      const int r = begin + a.columns.divide(j), from = Reverse ? begin + end - 1 - r : s;
      copy_element(a.in[0].data, from * a.in[0].stride + j, a.out[0].data, r * a.out[0].stride + j,
                   a.bytes);
    }
  }
};

/// Arguments for the sum over the copies of a sequence, in order. `outs` holds the first row of
/// each copy.
struct copied_arguments : sequence_arguments {
  sequence_view copies, outs;
};
struct copied_grad_lines {
  using arguments = copied_arguments;
  template <class Team>
  static LAMINA_INLINE LAMINA_FN void line(const arguments& a, int s, const Team& team) {
    const int begin = a.all.begin(s), end = a.all.end(s);
    for (int i = team.rank(); i < (end - begin) * a.columns.divisor(); i += team.size()) {
      int j = i;
      const int r = a.columns.divide(j);
      float sum = 0;
      for (int k = a.copies.begin(s); k < a.copies.end(s); ++k)
        sum += a.in[0].row<const float>(a.outs.begin(k) + r)[j];
      a.out[0].row<float>(begin + r)[j] = sum;
    }
  }
};

}}}  // namespace lamina::engine::cuda::detail
