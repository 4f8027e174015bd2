// SPDX-License-Identifier: Apache-2.0
// lamina/core/simd/intrinsics.hpp - the vectors of the CPU engine, lamina::simd: those of xsimd,
// with only the intrinsics of the enabled instruction sets, or those of plain_vectors.hpp.
#pragma once

#include <lamina/core/config.hpp>

#if defined(LAMINA_PLAIN_VECTORS)
#include <lamina/core/simd/plain_vectors.hpp>

namespace lamina { inline namespace LAMINA_ABI {
namespace simd = plain_simd;
}}  // namespace lamina
#else

#include <cstdint>

// g++ 12 wrongly warns of the undefined vectors inside AVX-512's intrinsics (its bug 105593).
#if defined(__AVX512F__) && defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#pragma GCC diagnostic ignored "-Wuninitialized"
#endif

// g++ parses all of <immintrin.h> for every machine. Most of it is AVX-512, which takes a tenth of
// the compile time of <lamina/lamina.hpp>. So this header includes only those headers of
// <immintrin.h> whose instruction sets are enabled. These headers require the include guard of
// <immintrin.h>, so this file defines the guard first, which also disables the include of
// <immintrin.h> in xsimd, and removes it at the end. If a user includes <immintrin.h> later, the
// other headers follow, because each has its own guard. This method is tested with g++ 12 only, so
// with other compilers all of <immintrin.h> is included. xsimd's batches use only the AVX-512
// intrinsics for whole registers; those for shorter registers (VL), a third of the text, are left
// out.
#if defined(__AVX__) && defined(__GNUC__) && __GNUC__ == 12 && !defined(__clang__) && \
    !defined(_IMMINTRIN_H_INCLUDED)
#define LAMINA_PARTS_OF_IMMINTRIN
// The order is the same as in <immintrin.h>, because each header needs the headers before it.
// clang-format off
#include <x86gprintrin.h>
#include <nmmintrin.h>
#include <wmmintrin.h>
#define _IMMINTRIN_H_INCLUDED
#include <avxintrin.h>
#include <avxvnniintrin.h>
#include <avx2intrin.h>
#if defined(__AVX512F__)
#include <avx512fintrin.h>
#include <avx512cdintrin.h>
typedef unsigned int __mmask32;  // as in <avx512vlintrin.h>
#include <avx512bwintrin.h>
#include <avx512dqintrin.h>
#include <avx512ifmaintrin.h>
#include <avx512vbmiintrin.h>
#include <avx512vbmi2intrin.h>
#include <avx512vnniintrin.h>
#endif
#include <fmaintrin.h>
#include <f16cintrin.h>
// clang-format on
#elif defined(__AVX__)
#include <immintrin.h>
#elif defined(__SSE__)
#include <xmmintrin.h>
#endif

// clang-format off
#include <lamina/core/simd/macros_hidden.hpp>
#include <xsimd/xsimd.hpp>
#include <lamina/core/simd/macros_shown.hpp>
// clang-format on

#if defined(__AVX512F__)
namespace xsimd {
/// Returns x * 2^k for an integer k of any size. core/simd/batch_functions.hpp finds it by
/// argument-dependent lookup.
template <class A>
requires std::is_base_of_v<avx512f, A>
inline batch<float, A> times_power_of_two(batch<float, A> x, batch<float, A> k) {
  return batch<float, A>(_mm512_scalef_ps(x.data, k.data));
}
}  // namespace xsimd
#endif

#if defined(LAMINA_PARTS_OF_IMMINTRIN)
#undef LAMINA_PARTS_OF_IMMINTRIN
#undef _IMMINTRIN_H_INCLUDED
#endif

#if defined(__AVX512F__) && defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic pop
#endif

// Without optimisation, g++ defines the intrinsics that blend bytes and words as macros with casts
// that do not accept batches. xsimd 8 uses these intrinsics for integers of every size, so its log
// would not compile. The functions below replace those of xsimd.
#if XSIMD_VERSION_MAJOR < 9 && defined(__AVX512BW__) && defined(__GNUC__) && \
    !defined(__clang__) && !defined(__OPTIMIZE__)
namespace xsimd::kernel {
template <>
inline batch<std::int32_t, avx512bw> select<avx512bw, std::int32_t, void>(
    const batch_bool<std::int32_t, avx512bw>& condition, const batch<std::int32_t, avx512bw>& yes,
    const batch<std::int32_t, avx512bw>& no, requires_arch<avx512bw>) noexcept {
  return _mm512_mask_blend_epi32(condition.data, no.data, yes.data);
}
template <>
inline batch<std::int64_t, avx512bw> select<avx512bw, std::int64_t, void>(
    const batch_bool<std::int64_t, avx512bw>& condition, const batch<std::int64_t, avx512bw>& yes,
    const batch<std::int64_t, avx512bw>& no, requires_arch<avx512bw>) noexcept {
  return _mm512_mask_blend_epi64(condition.data, no.data, yes.data);
}
}  // namespace xsimd::kernel
#endif

namespace lamina { inline namespace LAMINA_ABI {
namespace simd = xsimd;
}}  // namespace lamina

#endif  // LAMINA_PLAIN_VECTORS
