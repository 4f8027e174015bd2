// SPDX-License-Identifier: Apache-2.0
// lamina/train/gradients/tree_sum.hpp - sums gradients in an order that does not depend on which
// thread or process computed which part.
#pragma once

#include <lamina/core/config.hpp>

#include <algorithm>
#include <cstddef>

#include <lamina/engine/cpu/vector/simd.hpp>

namespace lamina { inline namespace LAMINA_ABI {

/// Arrays of gradients, one per part, each with a weight. A part with weight 0 is left out of the
/// sum, even if its array holds NaN.
template <class T>
struct weighted_parts {
  const T* const* of = nullptr;  // by part: its array
  const T* weight = nullptr;     // by part; null: all are 1, and an array may be null
  int count = 0;

  bool has(int part) const {
    return part < count && (weight == nullptr ? of[part] != nullptr : weight[part] != 0);
  }
};

/// Adds up a range of the gradients of parts:
///
///   node(0, p) = weight[p] * part[p];  node(k, p) = node(k-1, p) + node(k-1, p + 2^(k-1))
///
/// The order is that of a balanced binary tree over the numbers of the parts. So the sum over the
/// parts of one process, followed by the sum over processes, has the bits of one sum over all
/// parts, if each process has the same number of parts and this number is a power of two.
template <class T>
class tree_sum {
 public:
  using vector = engine::cpu::vector_in<T>;
  static constexpr std::size_t lanes = static_cast<std::size_t>(engine::cpu::lanes_in<T>);

  explicit tree_sum(const weighted_parts<T>& parts) : parts_(parts) {}

  /// Writes the sum of elements [first, first + n) to to[0, n); zeros if there is no part. `to` may
  /// be that range of the first part's array. `n` is a multiple of the vector length.
  LAMINA_NOINLINE void add(std::size_t first, std::size_t n, T* to) const {
    int levels = 0;
    while ((1 << levels) < parts_.count) ++levels;
    for (std::size_t done = 0; done < n; done += block) {
      const range at{first + done, (std::min)(block, n - done)};
      if (!node(levels, 0, at, to + done)) std::fill_n(to + done, at.n, T(0));
    }
  }

 private:
  static constexpr std::size_t block = 512;  // elements that stay in the cache
  struct range {
    std::size_t first, n;
  };

  /// Writes the sum of 2^level parts, beginning with `part`. Returns false if there is none.
  bool node(int level, int part, const range& at, T* to) const {
    if (part >= parts_.count) return false;
    if (level == 0) return leaf(part, at, to);
    const int half = part + (1 << (level - 1));
    const bool left = node(level - 1, part, at, to);
    if (!left) return node(level - 1, half, at, to);
    if (level == 1 && parts_.weight != nullptr) {
      if (parts_.has(half)) add_leaf(half, at, to);
      return true;
    }
    alignas(64) T right[block];
    if (node(level - 1, half, at, right))
      for (std::size_t k = 0; k < at.n; k += lanes)
        (vector::load_aligned(to + k) + vector::load_aligned(right + k)).store_aligned(to + k);
    return true;
  }
  bool leaf(int part, const range& at, T* to) const {
    if (!parts_.has(part)) return false;
    const T* const from = parts_.of[part] + at.first;
    if (parts_.weight == nullptr) {
      if (from != to) std::copy_n(from, at.n, to);
      return true;
    }
    // Adds 0 by a fused multiply-add, so that the compiler cannot fuse this product with a later
    // sum, which would change the last bit.
    const vector w(parts_.weight[part]), zero(T(0));
    for (std::size_t k = 0; k < at.n; k += lanes)
      engine::cpu::fused_multiply_add(w, vector::load_aligned(from + k), zero)
          .store_aligned(to + k);
    return true;
  }
  void add_leaf(int part, const range& at, T* to) const {
    const T* const from = parts_.of[part] + at.first;
    const vector w(parts_.weight[part]);
    for (std::size_t k = 0; k < at.n; k += lanes)
      engine::cpu::fused_multiply_add(w, vector::load_aligned(from + k),
                                      vector::load_aligned(to + k))
          .store_aligned(to + k);
  }

  weighted_parts<T> parts_;
};

}}  // namespace lamina
