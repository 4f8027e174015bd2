// SPDX-License-Identifier: Apache-2.0
// lamina/engine/cpu/vector/lane_sums.hpp - sums the lanes of each of several vectors.
#pragma once

#include <lamina/core/config.hpp>

#include <lamina/engine/cpu/vector/simd.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace engine::cpu {

/// sum[i] = the sum of the lanes of v[i], for `lanes` vectors. `sum` must be aligned as a vector
/// is.
LAMINA_INLINE void lane_sums(const vector* v, float* sum) {
#if defined(__AVX512F__)
  // For AVX-512, haddp of xsimd 8 adds up the wrong lanes.
  if constexpr (lanes == 16) {
    __m512 of[4];
    LAMINA_UNROLL for (int i = 0; i < 4; ++i) {
      // Quarter q of of[i] receives four sums of the lanes of v[4 * q + i].
      const __m512 a = v[i], b = v[4 + i], c = v[8 + i], d = v[12 + i];
      const __m512 ab = _mm512_shuffle_f32x4(a, b, 0x44) + _mm512_shuffle_f32x4(a, b, 0xee);
      const __m512 cd = _mm512_shuffle_f32x4(c, d, 0x44) + _mm512_shuffle_f32x4(c, d, 0xee);
      of[i] = _mm512_shuffle_f32x4(ab, cd, 0x88) + _mm512_shuffle_f32x4(ab, cd, 0xdd);
    }
    const __m512 even = _mm512_unpacklo_ps(of[0], of[1]) + _mm512_unpackhi_ps(of[0], of[1]);
    const __m512 odd = _mm512_unpacklo_ps(of[2], of[3]) + _mm512_unpackhi_ps(of[2], of[3]);
    const __m512 all = _mm512_shuffle_ps(even, odd, 0x44) + _mm512_shuffle_ps(even, odd, 0xee);
    return vector(all).store_aligned(sum);
  }
#endif
  simd::haddp(v).store_aligned(sum);
}

}}}  // namespace lamina::engine::cpu
