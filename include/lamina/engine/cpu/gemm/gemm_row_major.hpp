// SPDX-License-Identifier: Apache-2.0
// lamina/engine/cpu/gemm/gemm_row_major.hpp - the product of two row-major matrices; each may be
// transposed.
#pragma once

#include <lamina/core/config.hpp>

#include <cstddef>
#include <type_traits>

#include <lamina/engine/cpu/gemm/gemm.hpp>
#include <lamina/engine/cpu/gemm/panel_copies.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace engine::cpu {

/// A row-major matrix in memory, and whether a product uses its transpose.
template <class Real>
struct basic_matrix_operand {
  const Real* data;
  std::ptrdiff_t stride;  ///< numbers from row to row in memory
  bool transposed = false;
};
using matrix_operand = basic_matrix_operand<float>;

/// The size in floats of the scratch memory for `gemm_row_major` with these sizes.
template <class Real = float>
constexpr std::ptrdiff_t gemm_row_major_scratch_floats(int m_size, int k_size, int n_size) {
  return panels_floats(k_size, n_size) + gemm_scratch_floats<Real>(m_size, k_size, n_size);
}

namespace detail {

template <class Real>
struct basic_plain_store {
  using vector = vector_in<Real>;
  static constexpr int lanes = lanes_in<Real>;
  Real* data;
  std::ptrdiff_t stride;
  int columns;
  Real alpha;
  bool accumulate;

  static void run(const basic_tile<Real>& t, const void* context) {
    const basic_plain_store& c = *static_cast<const basic_plain_store*>(context);
    const int real = c.columns - t.column < t.width ? c.columns - t.column : t.width;
    const int whole = real - real % lanes;
    const vector alpha(c.alpha);
    for (int i = 0; i < t.rows; ++i) {
      const Real* sums = t.sums + i * t.width;
      Real* to = c.data + t.offset + i * t.stride;
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
using plain_store = basic_plain_store<float>;

}  // namespace detail

/// C[M,N] = alpha * op(A)[M,K] op(B)[K,N], or C += the same product if `accumulate`. Here op is the
/// identity or the transpose. All three matrices are row-major, each with its own stride. The
/// padding of C after its N columns is not written. C must not overlap A or B, otherwise the result
/// is wrong. `scratch` holds `gemm_row_major_scratch_floats(M, K, N)` floats and must be aligned to
/// 64 bytes. (Operator matmul and its gradients, one call for each matrix of a batch.)
template <class Real>
LAMINA_KERNEL void gemm_row_major(int m_size, int k_size, int n_size,
                                  std::type_identity_t<Real> alpha,
                                  basic_matrix_operand<std::type_identity_t<Real>> a,
                                  basic_matrix_operand<std::type_identity_t<Real>> b, Real* c,
                                  std::ptrdiff_t c_stride, bool accumulate, Real* scratch);

#if LAMINA_DEFINES

template <class Real>
void gemm_row_major(int m_size, int k_size, int n_size, std::type_identity_t<Real> alpha,
                    basic_matrix_operand<std::type_identity_t<Real>> a,
                    basic_matrix_operand<std::type_identity_t<Real>> b, Real* c,
                    std::ptrdiff_t c_stride, bool accumulate, Real* scratch) {
  Real* panels = scratch;
  if (b.transposed) {
    pack_transposed(k_size, n_size, b.data, b.stride, panels);
  } else {
    pack(k_size, n_size, b.data, b.stride, panels);
  }
  const detail::basic_plain_store<Real> store{c, c_stride, n_size, alpha, accumulate};
  const basic_left_operand<Real> left = a.transposed
                                            ? basic_left_operand<Real>{a.data, 1, a.stride}
                                            : basic_left_operand<Real>{a.data, a.stride, 1};
  detail::multiply(m_size, k_size, n_size, left, panels, k_size, false, product_layout{1, c_stride},
                   &detail::basic_plain_store<Real>::run, &store,
                   scratch + panels_floats(k_size, n_size));
}
LAMINA_INSTANCE(void gemm_row_major<float>(int, int, int, std::type_identity_t<float>,
                                           basic_matrix_operand<std::type_identity_t<float>>,
                                           basic_matrix_operand<std::type_identity_t<float>>,
                                           float*, std::ptrdiff_t, bool, float*))
LAMINA_INSTANCE(void gemm_row_major<double>(int, int, int, std::type_identity_t<double>,
                                            basic_matrix_operand<std::type_identity_t<double>>,
                                            basic_matrix_operand<std::type_identity_t<double>>,
                                            double*, std::ptrdiff_t, bool, double*))

#endif  // LAMINA_DEFINES

}}}  // namespace lamina::engine::cpu
