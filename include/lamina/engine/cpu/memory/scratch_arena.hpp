// SPDX-License-Identifier: Apache-2.0
// lamina/engine/cpu/memory/scratch_arena.hpp - divides the scratch memory of a kernel into arrays.
#pragma once

#include <lamina/core/config.hpp>

#include <cstddef>

#include <lamina/core/arrays/padding.hpp>
#include <lamina/engine/common/real_numbers.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace engine::cpu {

/// Divides scratch memory into arrays, each aligned to 64 bytes. If it is constructed without
/// memory, it returns null and only counts how many floats the arrays need.
class scratch_arena {
 public:
  explicit scratch_arena(float* memory = nullptr) : memory_(memory) {}

  /// Returns the next array, of `numbers` elements.
  template <class Real = float>
  Real* take(std::ptrdiff_t numbers) {
    float* const array = memory_ == nullptr ? nullptr : memory_ + used_;
    used_ +=
        (in_floats<Real>(numbers) + alignment_floats - 1) / alignment_floats * alignment_floats;
    return numbers_at<Real>(array);
  }
  /// Returns the next array, which holds a matrix with padded rows.
  template <class Real = float>
  Real* take(int rows, int columns) {
    return take<Real>(static_cast<std::ptrdiff_t>(rows) * padded(columns));
  }
  int* take_integers(std::ptrdiff_t n) {
    static_assert(sizeof(int) == sizeof(float));
    return reinterpret_cast<int*>(take(n));
  }
  /// Returns the number of floats of all arrays.
  std::ptrdiff_t used() const { return used_; }

 private:
  float* memory_;
  std::ptrdiff_t used_ = 0;
};

}}}  // namespace lamina::engine::cpu
