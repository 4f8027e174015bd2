// SPDX-License-Identifier: Apache-2.0
// lamina/operators/sequence/cuda.cuh - functions that copy rows, for all sequence operators.
#pragma once

#include <lamina/core/config.hpp>

#include <lamina/core/pooling_type.hpp>
#include <lamina/engine/cuda/body/element_loops.cuh>
#include <lamina/engine/cuda/body/part_copy.cuh>

namespace lamina { inline namespace LAMINA_ABI { namespace engine::cuda::detail {

/// The arguments of kernels over sequences. Some of the arrays have one row per element of a
/// sequence, others have one row per sequence.
struct sequence_arguments {
  sequence_view all;
  argument_view in[3], out[2];
  divider columns;  // columns of the arrays with one row per element
  pooling_type type;
  float pad;
  int bytes;
  int lines, width, count;
};

/// Runs a kernel with one team of threads per sequence of `domain`. `like` is an array with one row
/// per element of the sequences.
template <class Kernel, class Backend>
void run_sequences(Backend& b, const call_context& c, typename Kernel::arguments a, int domain,
                   const operand& like) {
  a.all = c.sequences(domain);
  a.columns = divider(like.columns);
  a.bytes = size_of(like.type);
  a.lines = a.count = a.all.count;
  // The average length estimates the work per sequence, which determines the size of the teams.
  a.width = a.lines > 0 ? like.rows / a.lines * like.columns : 0;
  if (a.lines > 0) b.template lines<team_lines<Kernel>>(a);
}

/// Copies row s of in[0], which has one row per sequence, to each row of sequence s. With Reverse,
/// in[0] has one row per element, and each sequence is copied in reverse order.
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

/// The arguments of the kernel that adds up the gradients of the copies of each sequence. `copies`
/// are the copies of each sequence, and `outs` the rows of each copy.
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
