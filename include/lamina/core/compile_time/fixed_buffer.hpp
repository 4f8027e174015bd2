// SPDX-License-Identifier: Apache-2.0
// lamina/core/compile_time/fixed_buffer.hpp - fills an array of the caller during constant
// evaluation. The member for the array is a reference and not a pointer: for an access through a
// pointer, g++ computes an address, which takes three times as long as an access to an element of a
// known array. The count is a reference too, because for a write to a member g++ spends time on
// each object and base that contains the member.
#pragma once

#include <lamina/core/config.hpp>

namespace lamina { inline namespace LAMINA_ABI {

/// The elements of an array of length `Capacity`; the first `count` are in use. If the array is
/// full, `full` is set and appended elements overwrite earlier elements, so the caller must discard
/// the array's contents.
template <class T, int Capacity>
struct fixed_buffer {
  T (&items)[bound(Capacity)];
  int& count;
  bool full = false;

  /// Appends to `array`, which already holds `used` elements, and adds the number of appended
  /// elements to `used`.
  constexpr fixed_buffer(T (&array)[bound(Capacity)], int& used) : items(array), count(used) {}

  /// Reserves `n` more elements and returns the index of the first of them. If they do not fit,
  /// sets `full` and returns 0, so a caller that writes several elements must check `full` first.
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

}}  // namespace lamina
