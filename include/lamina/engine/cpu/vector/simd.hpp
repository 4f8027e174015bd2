// SPDX-License-Identifier: Apache-2.0
// lamina/engine/cpu/vector/simd.hpp - vectors of floats and of doubles, their fused multiply-add,
// and the size of the register tile for the instruction set.
#pragma once

#include <lamina/core/config.hpp>

#include <lamina/core/arrays/padding.hpp>
#include <lamina/core/simd/intrinsics.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace engine::cpu {

/// The widest vector of real numbers, floats or doubles, that the compiler may use.
template <class Real>
using vector_in = simd::batch<Real>;
using vector = vector_in<float>;

/// The number of elements of a `vector_in<Real>`.
template <class Real>
inline constexpr int lanes_in = static_cast<int>(vector_in<Real>::size);
inline constexpr int lanes = lanes_in<float>;

/// A vector of N floats. Where a wider vector exists, vectors of 4 and of 8 floats exist too.
template <int N>
using vector_of = simd::make_sized_batch_t<float, bound(N)>;
/// Floats in a vector of this type.
template <class V>
inline constexpr int lanes_of = static_cast<int>(V::size);

static_assert(alignment_floats % lanes == 0,
              "lamina: a padded row has to be a whole number of vectors");

/// a * b + c, in one instruction if the architecture has one. (xsimd 8 does not use it for
/// AVX-512.)
LAMINA_INLINE vector fused_multiply_add(vector a, vector b, vector c) {
#if defined(__AVX512F__)
  if constexpr (lanes == 16) {
    return vector(_mm512_fmadd_ps(a, b, c));
  } else {
    return simd::fma(a, b, c);
  }
#else
  return simd::fma(a, b, c);
#endif
}

LAMINA_INLINE vector_in<double> fused_multiply_add(vector_in<double> a, vector_in<double> b,
                                                   vector_in<double> c) {
#if defined(__AVX512F__)
  if constexpr (lanes_in<double> == 8) {
    return vector_in<double>(_mm512_fmadd_pd(a, b, c));
  } else {
    return simd::fma(a, b, c);
  }
#else
  return simd::fma(a, b, c);
#endif
}

/// Makes the compiler hold `v` in a register. Without this, g++ repeats a load as the memory
/// operand of every instruction that uses it, and the load units become the bottleneck.
template <class Real, class A>
LAMINA_INLINE void hold_in_register(simd::batch<Real, A>& v) {
#if defined(__GNUC__) && defined(__AVX512F__)
  __asm__("" : "+v"(v.data));
#elif defined(__GNUC__) && defined(__SSE__)
  __asm__("" : "+x"(v.data));
#else
  (void)v;
#endif
}

/// Whether `stream` bypasses the caches. It does so only if one vector fills a cache line; with
/// shorter vectors, alternating stores to several arrays would write incomplete cache lines, which
/// is slow.
inline constexpr bool has_streams = sizeof(vector) == 64;

/// Stores `v` at `to`, which must be aligned as a vector is. A cache line that is written as a
/// whole is not read from memory first. The caller must call end_streams() before another thread
/// reads the data, because these stores may otherwise become visible too late.
LAMINA_INLINE void stream(vector v, float* to) {
#if defined(__AVX512F__)
  if constexpr (has_streams)
    _mm512_stream_ps(to, v);
  else
    v.store_aligned(to);
#else
  v.store_aligned(to);
#endif
}
LAMINA_INLINE void stream(vector_in<double> v, double* to) {
#if defined(__AVX512F__)
  if constexpr (has_streams)
    _mm512_stream_pd(to, v);
  else
    v.store_aligned(to);
#else
  v.store_aligned(to);
#endif
}
LAMINA_INLINE void end_streams() {
#if defined(__AVX512F__)
  _mm_sfence();
#endif
}

/// The number of vector registers of the instruction set. Where a vector is one float, it is the
/// number of registers for floats of ARM and RISC-V.
#if defined(__AVX512F__) || defined(__aarch64__) || \
    (defined(LAMINA_PLAIN_VECTORS) && LAMINA_PLAIN_VECTORS == 4)
inline constexpr int vector_registers = 32;
#else
inline constexpr int vector_registers = 16;
#endif

/// Vectors per row of the register tile: 2, or 4 for many registers and short vectors.
inline constexpr int tile_vectors = vector_registers == 32 && sizeof(vector) <= 16 ? 4 : 2;

/// Rows of the register tile, the block of a matrix product whose sums stay in registers. The
/// accumulators of the tile, one row of the right operand and one element of the left operand must
/// fit into the registers: 14 x 32 floats with AVX-512, 6 x 16 with AVX2, 6 x 16 with NEON, 6 x 8
/// with SSE, 6 x 4 with single floats; doubles have half of the columns.
inline constexpr int tile_rows = (vector_registers - tile_vectors - 1) / tile_vectors;

/// Columns of the register tile, and of a panel of packed weights.
template <class Real>
inline constexpr int panel_width_in = tile_vectors* lanes_in<Real>;
inline constexpr int panel_width = panel_width_in<float>;

/// The width of the last panel of a matrix if half a panel is enough; it differs from the width of
/// a panel only if panels are wider than the padding of rows.
template <class Real>
inline constexpr int narrow_width_in =
    panel_width_in<Real> > alignment_floats ? alignment_floats : panel_width_in<Real>;
inline constexpr int narrow_width = narrow_width_in<float>;

static_assert(panel_width == 2 * alignment_floats || alignment_floats % panel_width == 0);

}}}  // namespace lamina::engine::cpu
