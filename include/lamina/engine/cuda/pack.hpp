// SPDX-License-Identifier: Apache-2.0
// lamina/engine/cuda/pack.hpp - four floats that move together: 16 bytes a load, 16 a store.
#pragma once

#include <lamina/core/config.hpp>
#include <lamina/core/padding.hpp>

namespace lamina::engine::cuda {

/// Unrolls the loop that follows, in device code only.
#if defined(__CUDA_ARCH__)
#define LAMINA_CUDA_UNROLL _Pragma("unroll")
#else
#define LAMINA_CUDA_UNROLL
#endif

/// Floats in a pack. Padded rows are whole packs, and begin at multiples of 16 bytes.
inline constexpr int pack_width = 4;
static_assert(alignment_floats % pack_width == 0);

/// What a thread computes at once.
struct alignas(16) pack {
  float v[pack_width];
};

LAMINA_INLINE LAMINA_FN pack filled(float x) { return {{x, x, x, x}}; }

/// Reads what this kernel may have written before.
LAMINA_INLINE LAMINA_FN pack load_pack(const float* from) {
  return *reinterpret_cast<const pack*>(from);
}
/// Reads what no thread of this kernel writes, through the read-only cache.
LAMINA_INLINE LAMINA_FN pack load_constant(const float* from) {
#if defined(__CUDA_ARCH__)
  const float4 t = __ldg(reinterpret_cast<const float4*>(from));
  return {{t.x, t.y, t.z, t.w}};
#else
  return load_pack(from);
#endif
}
LAMINA_INLINE LAMINA_FN void store_pack(float* to, const pack& x) {
  *reinterpret_cast<pack*>(to) = x;
}

}  // namespace lamina::engine::cuda
