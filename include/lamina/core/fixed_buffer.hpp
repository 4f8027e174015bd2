// SPDX-License-Identifier: Apache-2.0
// lamina/core/fixed_buffer.hpp - fills an array that the caller owns, during constant evaluation.
// The array is a reference and not a pointer: g++ computes each access through a pointer from an
// address, which takes three times as long as an access to an element of a known array. The count
// is a reference too, because a member is written along all the objects and bases that contain it.
#pragma once

#include <lamina/core/config.hpp>

namespace lamina::inline LAMINA_ABI {

/// The elements of an array of `Capacity`, the first `count` of which are in use. When the array is
/// full, `full` is set and appended elements overwrite others: the result is invalid then.
template <class T, int Capacity>
struct fixed_buffer {
  T (&items)[Capacity];
  int& count;
  bool full = false;

  /// `used` elements are there already; the buffer keeps `used` up to date.
  constexpr fixed_buffer(T (&array)[Capacity], int& used) : items(array), count(used) {}

  /// Reserves `n` more elements and returns the index of the first. When they do not fit, sets
  /// `full` and returns 0: a caller that appends any number of elements checks first whether the
  /// array is full.
  constexpr int take(int n) {
    if (n > Capacity - count) return full = true, 0;
    return (count += n) - n;
  }
  /// Appends `value`; returns its index.
  constexpr int push(const T& value) {
    if (count == Capacity) full = true, --count;
    items[count] = value;
    return count++;
  }

  constexpr T& operator[](int i) { return items[i]; }
  constexpr const T& operator[](int i) const { return items[i]; }
};

}  // namespace lamina::inline LAMINA_ABI
