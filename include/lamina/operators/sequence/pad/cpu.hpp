// SPDX-License-Identifier: Apache-2.0
// lamina/operators/sequence/pad/cpu.hpp - the kernels of sequence_pad, sequence_unpad and
// sequence_mask.
#pragma once

#include <lamina/core/config.hpp>

#include <lamina/engine/cpu/schedule/call_context.hpp>
#include <lamina/operators/sequence/pad/definition.hpp>
#if LAMINA_DEFINES
#include <algorithm>
#include <cstring>

#include <lamina/engine/cpu/memory/label.hpp>
#include <lamina/engine/cpu/memory/row_parts.hpp>
#include <lamina/engine/cpu/vector/row_math.hpp>
#endif

namespace lamina { inline namespace LAMINA_ABI { namespace engine::cpu {

#if LAMINA_DEFINES

namespace detail {

/// A padded array. Each row of this array holds all rows of one sequence, one after the other.
struct padded_rows {
  operand of;
  int width, length;  // elements of a row of a sequence; such rows in a padded row

  padded_rows(const operand& padded, int columns)
      : of(padded), width(columns), length(columns > 0 ? padded.columns / columns : 0) {}
  char* at(int row, int step) const {
    return static_cast<char*>(of.data) +
           (row * of.stride + static_cast<std::ptrdiff_t>(step) * width) * size_of(of.type);
  }
  std::size_t bytes(int rows) const {
    return static_cast<std::size_t>(rows) * static_cast<std::size_t>(width * size_of(of.type));
  }
};

inline char* row_of(const operand& o, int row) {
  return static_cast<char*>(o.data) + row * o.stride * size_of(o.type);
}

/// Copies the rows of each sequence to the beginning of the sequence's padded row.
inline void pad_rows(const operand& x, const sequence_rows& all, const padded_rows& to) {
  for (int s = 0; s < all.count; ++s)
    for (int t = 0; t < all.length(s); ++t)
      std::memcpy(to.at(s, t), row_of(x, all.begin(s) + t), to.bytes(1));
}
/// Copies the beginning of each padded row to the rows of its sequence.
inline void unpad_rows(const padded_rows& from, const operand& x, const sequence_rows& all) {
  for (int s = 0; s < all.count; ++s)
    for (int t = 0; t < all.length(s); ++t)
      std::memcpy(row_of(x, all.begin(s) + t), from.at(s, t), from.bytes(1));
}
inline void require_length(const call_context& c, const sequence_rows& all, int most) {
  for (int s = 0; s < all.count; ++s)
    if (all.length(s) > most)
      fail(c, {"expected sequences of at most ", most, " rows, found ", all.length(s),
               " in sequence ", s});
}

}  // namespace detail

#endif  // LAMINA_DEFINES

template <>
struct call_kernel<operators::sequence_pad> {
  template <class Real = float>
  LAMINA_KERNEL static void run(const call_context& c);

 private:
  // Returns element j of the padding value, which may have several dimensions, and so several rows
  // in memory.
  template <class T>
  static const T* element(const operand& pad, int j, T) {
    return pad.row<const T>(j / pad.columns) + j % pad.columns;
  }
};

template <>
struct call_kernel<gradient_of<operators::sequence_pad>> {
  template <class Real = float>
  LAMINA_KERNEL static void run(const call_context& c);
};

template <>
struct call_kernel<operators::sequence_unpad> {
  template <class Real = float>
  LAMINA_KERNEL static void run(const call_context& c);
};

template <>
struct call_kernel<gradient_of<operators::sequence_unpad>> {
  template <class Real = float>
  LAMINA_KERNEL static void run(const call_context& c);
};

template <>
struct call_kernel<operators::sequence_mask> {
  template <class Real = float>
  LAMINA_KERNEL static void run(const call_context& c);
};

#if LAMINA_DEFINES

template <class Real>
void call_kernel<operators::sequence_pad>::run(const call_context& c) {
  const operand x = c.input(0), pad = c.input(1), length = c.output(1);
  const sequence_rows all = c.sequences(x);
  if (length)
    for (int s = 0; s < all.count; ++s) *length.row<std::int64_t>(s) = all.length(s);
  if (!c.output(0)) return;
  const detail::padded_rows to(c.output(0), x.columns);
  detail::require_length(c, all, to.length);
  const int pads = pad.rows * pad.columns;
  if (pads != 1 && pads != x.columns)
    fail(c, {"expected 1 or ", x.columns, " numbers to pad with, found ", pads});
  detail::pad_rows(x, all, to);
  with_word(x.type, [&](auto like) {
    using T = decltype(like);
    for (int s = 0; s < all.count; ++s) {
      T* const end = reinterpret_cast<T*>(to.at(s, to.length));
      for (T* at = reinterpret_cast<T*>(to.at(s, all.length(s))); at < end; at += x.columns)
        for (int j = 0; j < x.columns; ++j) at[j] = *element(pad, pads == 1 ? 0 : j, T());
    }
  });
}
LAMINA_INSTANCE(void call_kernel<operators::sequence_pad>::run<float>(const call_context&))
LAMINA_INSTANCE(void call_kernel<operators::sequence_pad>::run<double>(const call_context&))

template <class Real>
void call_kernel<gradient_of<operators::sequence_pad>>::run(const call_context& c) {
  const operand dx = c.output(0);
  if (!dx) return;
  const detail::padded_rows d(c.input(1), dx.columns);
  const sequence_rows all = c.sequences(dx);
  detail::require_length(c, all, d.length);
  detail::unpad_rows(d, dx, all);
}
LAMINA_INSTANCE(
    void call_kernel<gradient_of<operators::sequence_pad>>::run<float>(const call_context&))
LAMINA_INSTANCE(
    void call_kernel<gradient_of<operators::sequence_pad>>::run<double>(const call_context&))

template <class Real>
void call_kernel<operators::sequence_unpad>::run(const call_context& c) {
  const operand length = c.input(1);
  const int width = c.output(0).columns, most = c.input(0).columns / width;
  if (length.rows * length.columns != c.input(0).rows)
    fail(c, {"expected ", c.input(0).rows, " lengths, found ", length.rows * length.columns});
  make_sequences(c, c.output(0).domain, c.input(0).rows, [&](int s) {
    const std::int64_t n = integer_in(length, s, 0);
    if (n < 0 || n > most) fail_range(c, "length", n, s, most + 1, length);
    return static_cast<int>(n);
  });
  const operand out = c.output(0);
  detail::unpad_rows({c.input(0), width}, out, c.sequences(out));
}
LAMINA_INSTANCE(void call_kernel<operators::sequence_unpad>::run<float>(const call_context&))
LAMINA_INSTANCE(void call_kernel<operators::sequence_unpad>::run<double>(const call_context&))

template <class Real>
void call_kernel<gradient_of<operators::sequence_unpad>>::run(const call_context& c) {
  const operand d = c.input(2);
  if (!c.output(0)) return;
  const detail::padded_rows dx(c.output(0), d.columns);
  const sequence_rows all = c.sequences(d);
  detail::pad_rows(d, all, dx);
  for (int s = 0; s < all.count; ++s)
    std::memset(dx.at(s, all.length(s)), 0, dx.bytes(dx.length - all.length(s)));
}
LAMINA_INSTANCE(
    void call_kernel<gradient_of<operators::sequence_unpad>>::run<float>(const call_context&))
LAMINA_INSTANCE(
    void call_kernel<gradient_of<operators::sequence_unpad>>::run<double>(const call_context&))

template <class Real>
void call_kernel<operators::sequence_mask>::run(const call_context& c) {
  const operand x = c.input(0), y = c.output(0);
  const int in_row = y.rows == x.rows ? x.columns : 1;  // 1 for a vector [n]: a row of y per mask
  const int length = y.columns / in_row;
  with_type(y.type, [&](auto like) {
    using T = decltype(like);
    for (int r = 0; r < x.rows; ++r)
      for (int j = 0; j < x.columns; ++j) {
        const std::int64_t ones = std::clamp<std::int64_t>(integer_in(x, r, j), 0, length);
        const int mask = r * x.columns + j;
        T* const to = y.row<T>(mask / in_row) + mask % in_row * length;
        std::fill(to, to + ones, static_cast<T>(1));
        std::fill(to + ones, to + length, static_cast<T>(0));
      }
  });
}
LAMINA_INSTANCE(void call_kernel<operators::sequence_mask>::run<float>(const call_context&))
LAMINA_INSTANCE(void call_kernel<operators::sequence_mask>::run<double>(const call_context&))

#endif  // LAMINA_DEFINES

}}}  // namespace lamina::engine::cpu
