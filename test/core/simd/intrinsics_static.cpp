// SPDX-License-Identifier: Apache-2.0
// A user's <immintrin.h> after lamina's part of it has the intrinsics of other machines too.
#include <lamina/core/simd/intrinsics.hpp>

#if defined(__x86_64__)
#include <immintrin.h>

namespace {

[[maybe_unused]] __attribute__((target("avx512f"))) double sum_of_eight(const double* from) {
  const __m512d all = _mm512_loadu_pd(from);
  double each[8];
  _mm512_storeu_pd(each, _mm512_add_pd(all, _mm512_setzero_pd()));
  return each[0] + each[7];
}

}  // namespace
#endif
