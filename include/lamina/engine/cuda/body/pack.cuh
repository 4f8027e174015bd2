// SPDX-License-Identifier: Apache-2.0
// lamina/engine/cuda/body/pack.cuh - packs: a few adjacent floats that a thread moves together.
// Four floats are one load or store of 16 bytes.
#pragma once

#include <lamina/core/config.hpp>

#include <lamina/core/arrays/padding.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace engine::cuda {

/// In device code these macros control the loop that follows: UNROLL unrolls it fully, UNROLL_BY_4
/// by four, and KEEP_LOOP prevents unrolling. On the host they are empty.
#if defined(__CUDA_ARCH__)
#define LAMINA_CUDA_UNROLL _Pragma("unroll")
#define LAMINA_CUDA_UNROLL_BY_4 _Pragma("unroll 4")
#define LAMINA_CUDA_KEEP_LOOP _Pragma("unroll 1")
#else
#define LAMINA_CUDA_UNROLL
#define LAMINA_CUDA_UNROLL_BY_4
#define LAMINA_CUDA_KEEP_LOOP
#endif

/// Floats in a pack. Padded rows consist of whole packs and begin at multiples of 16 bytes.
inline constexpr int pack_width = 4;
static_assert(alignment_floats % pack_width == 0);

/// The `Width` adjacent floats that a thread loads, computes and stores together.
template <int Width>
struct alignas(4 * Width) pack_of {
  static constexpr int width = Width;
  float v[bound(Width)];
};
using pack = pack_of<pack_width>;
/// A single float, for threads whose elements are not adjacent in memory.
using lone_float = pack_of<1>;

template <class Pack = pack>
LAMINA_INLINE LAMINA_FN Pack filled(float x) {
  Pack p;
  LAMINA_CUDA_UNROLL
  for (int j = 0; j < Pack::width; ++j) p.v[j] = x;
  return p;
}

/// Reads memory that the same kernel may write.
template <class Pack = pack>
LAMINA_INLINE LAMINA_FN Pack load_pack(const float* from) {
  return *reinterpret_cast<const Pack*>(from);
}
/// Reads memory that no thread of the kernel writes, through the read-only cache.
template <class Pack = pack>
LAMINA_INLINE LAMINA_FN Pack load_constant(const float* from) {
#if defined(__CUDA_ARCH__)
  if constexpr (Pack::width == 4) {
    const float4 t = __ldg(reinterpret_cast<const float4*>(from));
    return {{t.x, t.y, t.z, t.w}};
  } else {
    return {{__ldg(from)}};
  }
#else
  return load_pack<Pack>(from);
#endif
}
template <int Width>
LAMINA_INLINE LAMINA_FN void store_pack(float* to, const pack_of<Width>& x) {
  *reinterpret_cast<pack_of<Width>*>(to) = x;
}

}}}  // namespace lamina::engine::cuda
