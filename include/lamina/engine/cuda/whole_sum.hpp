// SPDX-License-Identifier: Apache-2.0
// lamina/engine/cuda/whole_sum.hpp - arrays of several places become their sum: each array is
// multiplied with a weight before, and all places have the sum afterwards.
#pragma once

#include <cstddef>

#include <lamina/engine/cuda/pack.hpp>

namespace lamina::engine::cuda {

namespace detail {

/// Pack i becomes itself times the weight; with weight 0 it becomes 0, whatever it was.
struct weigh_body {
  struct arguments {
    float* data;
    float weight;
    int count;
  };
  static LAMINA_INLINE LAMINA_FN void run(const arguments& a, int i) {
    float* const at = a.data + static_cast<std::ptrdiff_t>(i) * pack_width;
    pack x = load_pack(at);
    LAMINA_CUDA_UNROLL
    for (int j = 0; j < pack_width; ++j) x.v[j] = a.weight == 0 ? 0.0f : x.v[j] * a.weight;
    store_pack(at, x);
  }
};

/// Pack i of an array, which is part `mine`, becomes the sum of the packs i of all parts, in the
/// order of their numbers; the other parts lie one behind the other.
struct add_parts_body {
  struct arguments {
    float* data;
    const float* others;
    std::ptrdiff_t apart;
    int parts, mine;
    int count;
  };
  static LAMINA_INLINE LAMINA_FN void run(const arguments& a, int i) {
    const std::ptrdiff_t at = static_cast<std::ptrdiff_t>(i) * pack_width;
    const pack own = load_pack(a.data + at);
    pack sum{};
    for (int p = 0; p < a.parts; ++p) {
      const pack x =
          p == a.mine ? own : load_constant(a.others + (p - (p > a.mine ? 1 : 0)) * a.apart + at);
      LAMINA_CUDA_UNROLL
      for (int j = 0; j < pack_width; ++j) sum.v[j] = p == 0 ? x.v[j] : sum.v[j] + x.v[j];
    }
    store_pack(a.data + at, sum);
  }
};

}  // namespace detail

/// An array of whole packs, times a weight.
template <class Backend>
void weigh(Backend& b, float* data, std::size_t floats, float weight) {
  b.template elements<detail::weigh_body>(
      {data, weight, static_cast<int>(floats / static_cast<std::size_t>(pack_width))});
}

}  // namespace lamina::engine::cuda
