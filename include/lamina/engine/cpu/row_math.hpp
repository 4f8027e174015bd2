// SPDX-License-Identifier: Apache-2.0
// lamina/engine/cpu/row_math.hpp - sums and copies of rows that read exactly their elements.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstring>

#include <lamina/engine/cpu/array_layout.hpp>
#include <lamina/engine/cpu/row_vectors.hpp>

namespace lamina::engine::cpu {

/// The sum of the elements of a vector.
LAMINA_INLINE float sum_of(vector v) {
  alignas(64) float part[lanes];
  v.store_aligned(part);
  float sum = 0;
  for (float p : part) sum += p;
  return sum;
}

namespace detail {
template <class Term, class Rest>
LAMINA_INLINE float sum_terms(std::ptrdiff_t n, Term term, Rest rest) {
  vector sum[4] = {vector(0.f), vector(0.f), vector(0.f), vector(0.f)};
  std::ptrdiff_t j = 0;
  for (; j + 4 * lanes <= n; j += 4 * lanes)
    LAMINA_UNROLL for (int i = 0; i < 4; ++i) sum[i] += term(j + i * lanes);
  for (; j + lanes <= n; j += lanes) sum[0] += term(j);
  float total = sum_of((sum[0] + sum[1]) + (sum[2] + sum[3]));
  for (; j < n; ++j) total += rest(j);
  return total;
}
}  // namespace detail

/// x[0] + ... + x[n - 1].
LAMINA_NOINLINE inline float row_sum(const float* x, std::ptrdiff_t n) {
  return detail::sum_terms(
      n, [=](std::ptrdiff_t j) { return vector::load_unaligned(x + j); },
      [=](std::ptrdiff_t j) { return x[j]; });
}

/// x[0] * y[0] + ... + x[n - 1] * y[n - 1].
LAMINA_NOINLINE inline float dot(const float* x, const float* y, std::ptrdiff_t n) {
  return detail::sum_terms(
      n,
      [=](std::ptrdiff_t j) {
        return vector::load_unaligned(x + j) * vector::load_unaligned(y + j);
      },
      [=](std::ptrdiff_t j) { return x[j] * y[j]; });
}

/// The sum of (x[j] - center)^2.
LAMINA_NOINLINE inline float squared_distance(const float* x, float center, std::ptrdiff_t n) {
  const vector c(center);
  return detail::sum_terms(
      n,
      [=](std::ptrdiff_t j) {
        const vector d = vector::load_unaligned(x + j) - c;
        return d * d;
      },
      [=](std::ptrdiff_t j) { return (x[j] - center) * (x[j] - center); });
}

/// y[j] = f(j), with f for a vector that begins at j and for one number.
template <class F>
LAMINA_INLINE void for_each_place(std::ptrdiff_t n, F&& f) {
  std::ptrdiff_t j = 0;
  for (; j + lanes <= n; j += lanes) f(j, vector(0.f));
  for (; j < n; ++j) f(j, 0.0f);
}

/// Every element of an array becomes 0, padding included.
inline void clear(const operand& o) {
  const std::size_t bytes = static_cast<std::size_t>(o.stride) *
                            static_cast<std::size_t>(o.rows < 0 ? 0 : o.rows) *
                            static_cast<std::size_t>(size_of(o.type));
  if (bytes != 0) std::memset(o.data, 0, bytes);
}

/// The same elements in the same order, from rows of one width to rows of another; nothing to do
/// where the plan lets both lie in one place.
inline void copy_elements(const operand& from, const operand& to) {
  if (from.data == to.data) return;
  const std::ptrdiff_t width = size_of(from.type);
  const std::ptrdiff_t size = static_cast<std::ptrdiff_t>(from.rows) * from.columns;
  const char* source = static_cast<const char*>(from.data);
  char* target = static_cast<char*>(to.data);
  std::ptrdiff_t r = 0, i = 0, s = 0, j = 0;
  for (std::ptrdiff_t done = 0; done < size;) {
    const std::ptrdiff_t n = std::min(from.columns - i, to.columns - j);
    std::memcpy(target + (s * to.stride + j) * width, source + (r * from.stride + i) * width,
                static_cast<std::size_t>(n * width));
    done += n;
    i += n;
    j += n;
    if (i == from.columns) i = 0, ++r;
    if (j == to.columns) j = 0, ++s;
  }
}

/// An array without gaps between its rows: itself, or a copy in `room`, which is moved on.
inline const float* without_gaps(const operand& o, float*& room) {
  if (o.stride == o.columns || o.rows <= 1) return o.row<const float>(0);
  float* const copy = room;
  for (int r = 0; r < o.rows; ++r)
    std::memcpy(copy + static_cast<std::ptrdiff_t>(r) * o.columns, o.row<const float>(r),
                static_cast<std::size_t>(o.columns) * sizeof(float));
  const std::ptrdiff_t size = static_cast<std::ptrdiff_t>(o.rows) * o.columns;
  room += (size + alignment_floats - 1) / alignment_floats * alignment_floats;
  return copy;
}

/// Floats of room that `without_gaps` takes at most.
inline std::ptrdiff_t room_without_gaps(const operand& o) {
  if (o.stride == o.columns || o.rows <= 1) return 0;
  const std::ptrdiff_t size = static_cast<std::ptrdiff_t>(o.rows) * o.columns;
  return (size + alignment_floats - 1) / alignment_floats * alignment_floats;
}

}  // namespace lamina::engine::cpu
