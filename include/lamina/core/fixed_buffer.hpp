// SPDX-License-Identifier: Apache-2.0
// lamina/core/fixed_buffer.hpp - fills an array of somebody else during constant evaluation.
// Why a reference to an array and no pointer: g++ computes each access through a pointer from an
// address, which costs it three times an access to an element of an array that it knows. Why the
// count is a reference too: a member is written along all the objects and bases that it lies in.
#pragma once

namespace lamina {

/// The elements of an array of `Room`, the first `count` of which are in use. When it is full it
/// says so, and what is appended takes the places of others: the result is not to be used then.
template <class T, int Capacity>
struct fixed_buffer {
  T (&items)[Capacity];
  int& count;
  bool full = false;

  /// `used` elements are there already; it is kept up to date.
  constexpr fixed_buffer(T (&array)[Capacity], int& used) : items(array), count(used) {}

  /// Makes room for `n` more elements; returns where they begin. When there is none, at the start:
  /// a caller that appends any number of elements checks first whether the array is full.
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

}  // namespace lamina
