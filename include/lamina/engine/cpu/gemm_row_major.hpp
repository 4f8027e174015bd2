// SPDX-License-Identifier: Apache-2.0
// lamina/engine/cpu/gemm_row_major.hpp - the product of two ordinary row-major matrices, each
// perhaps transposed.
#pragma once

#include <cstddef>

#include <lamina/engine/cpu/gemm.hpp>

namespace lamina::engine::cpu {

/// A row-major matrix as it stands in memory, and whether a product takes its transpose.
struct matrix_operand {
  const float* data;
  std::ptrdiff_t stride;  ///< floats from row to row in memory
  bool transposed = false;
};

/// Scratch that `gemm_row_major` of this size needs, in floats.
constexpr std::ptrdiff_t gemm_row_major_scratch_floats(int m_size, int k_size, int n_size) {
  return panels_floats(k_size, n_size) + gemm_scratch_floats(m_size, k_size, n_size);
}

namespace detail {

struct plain_store {
  float* data;
  std::ptrdiff_t stride;
  int columns;
  float alpha;
  bool accumulate;

  static void run(const tile& t, const void* context) {
    const plain_store& c = *static_cast<const plain_store*>(context);
    const int real = c.columns - t.column < t.width ? c.columns - t.column : t.width;
    const int whole = real - real % lanes;
    const vector alpha(c.alpha);
    for (int i = 0; i < t.rows; ++i) {
      const float* sums = t.sums + i * t.width;
      float* to = c.data + t.offset + i * t.stride;
      for (int j = 0; j < whole; j += lanes) {
        const vector scaled = alpha * vector::load_aligned(sums + j);
        (c.accumulate ? vector::load_unaligned(to + j) + scaled : scaled).store_unaligned(to + j);
      }
      for (int j = whole; j < real; ++j) {
        to[j] = c.accumulate ? to[j] + c.alpha * sums[j] : c.alpha * sums[j];
      }
    }
  }
};

}  // namespace detail

/// C[M,N] = alpha * op(A)[M,K] op(B)[K,N], or C += that if `accumulate`, where op is the identity
/// or the transpose. All three are row-major with strides of their own; only the N real columns of
/// C are written, and C must not overlap A or B. `scratch` holds `gemm_row_major_scratch_floats(M,
/// K, N)`, aligned to 64 bytes. (Operator matmul and its gradients, one call for each matrix of a
/// batch.)
inline void gemm_row_major(int m_size, int k_size, int n_size, float alpha, matrix_operand a,
                           matrix_operand b, float* c, std::ptrdiff_t c_stride, bool accumulate,
                           float* scratch) {
  float* panels = scratch;
  if (b.transposed) {
    pack_transposed(k_size, n_size, b.data, b.stride, panels);
  } else {
    pack(k_size, n_size, b.data, b.stride, panels);
  }
  const detail::plain_store store{c, c_stride, n_size, alpha, accumulate};
  const left_operand left =
      a.transposed ? left_operand{a.data, 1, a.stride} : left_operand{a.data, a.stride, 1};
  detail::multiply(m_size, k_size, n_size, left, panels, k_size, false, {1, c_stride},
                   &detail::plain_store::run, &store, scratch + panels_floats(k_size, n_size));
}

}  // namespace lamina::engine::cpu
