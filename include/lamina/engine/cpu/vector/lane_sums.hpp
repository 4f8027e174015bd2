// SPDX-License-Identifier: Apache-2.0
// lamina/engine/cpu/vector/lane_sums.hpp - sums the lanes of each of several vectors.
#pragma once

#include <lamina/core/config.hpp>

#include <lamina/engine/cpu/gemm/transpose.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace engine::cpu {

/// sum[i] = the sum of the lanes of v[i], for `lanes` vectors. `sum` must be aligned as a vector
/// is.
LAMINA_INLINE void lane_sums(const vector* v, float* sum) {
#if defined(__AVX512F__)
  // For AVX-512, haddp of xsimd 8 adds up the wrong lanes.
  if constexpr (lanes == 16) {
    alignas(64) float rows[lanes * lanes], columns[lanes * lanes];
    LAMINA_UNROLL for (int i = 0; i < lanes; ++i) v[i].store_aligned(rows + i * lanes);
    detail::transpose_square(rows, lanes, columns, lanes);
    vector all = vector::load_aligned(columns);
    LAMINA_UNROLL for (int i = 1; i < lanes; ++i) all += vector::load_aligned(columns + i * lanes);
    all.store_aligned(sum);
    return;
  }
#endif
  simd::haddp(v).store_aligned(sum);
}

}}}  // namespace lamina::engine::cpu
