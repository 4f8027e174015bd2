// SPDX-License-Identifier: Apache-2.0
// lamina/engine/cpu/memory/row_parts.hpp - copies of blocks of rows, and of parts of arrays. A part
// is one row of some sequence level, with all rows below it.
#pragma once

#include <lamina/core/config.hpp>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>

#include <lamina/engine/common/call_error.hpp>
#include <lamina/engine/common/dynamic_rows.hpp>
#include <lamina/engine/cpu/memory/array_layout.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace engine::cpu {

/// Copies rows [from, from + n) of `x` to rows [to, to + n) of `out`, which has the same type and
/// columns.
inline void copy_block(const operand& x, int from, const operand& out, int to, int n) {
  if (n <= 0) return;
  const std::ptrdiff_t width = size_of(x.type);
  char* const target = static_cast<char*>(out.data) + to * out.stride * width;
  const char* const source = static_cast<const char*>(x.data) + from * x.stride * width;
  if (target == source) return;
  if (x.stride == out.stride) {
    std::memcpy(target, source, static_cast<std::size_t>(n * x.stride * width));
    return;
  }
  for (int r = 0; r < n; ++r)
    std::memcpy(target + r * out.stride * width, source + r * x.stride * width,
                static_cast<std::size_t>(x.columns * width));
}

/// Copies single rows of an array to rows of another array of the same type and number of columns.
/// If both arrays have the same stride and it is a multiple of a cache line, rows are copied with
/// their padding. Then short rows are copied by cache lines, which is faster than a call of memcpy
/// per row.
class row_copier {
 public:
  row_copier(const operand& x, const operand& out)
      : source_(static_cast<const char*>(x.data)),
        target_(static_cast<char*>(out.data)),
        source_step_(x.stride * size_of(x.type)),
        target_step_(out.stride * size_of(x.type)),
        bytes_(source_step_ == target_step_ && source_step_ % line == 0
                   ? source_step_
                   : x.columns * std::ptrdiff_t{size_of(x.type)}) {}

  LAMINA_INLINE void operator()(int from, int to) const {
    const char* const source = source_ + from * source_step_;
    char* const target = target_ + to * target_step_;
    if (bytes_ % line == 0 && bytes_ <= 16 * line)
      for (std::ptrdiff_t at = 0; at < bytes_; at += line)
        std::memcpy(target + at, source + at, line);
    else
      std::memcpy(target, source, static_cast<std::size_t>(bytes_));
  }

 private:
  static constexpr int line = 64;

  const char* source_;
  char* target_;
  std::ptrdiff_t source_step_, target_step_, bytes_;
};

/// Sets rows [from, from + n) of `out` to zero, padding included.
inline void clear_block(const operand& out, int from, int n) {
  if (n <= 0) return;
  const std::ptrdiff_t step = out.stride * size_of(out.type);
  std::memset(static_cast<char*>(out.data) + from * step, 0, static_cast<std::size_t>(n * step));
}

/// Reads an index (of a row, a step or a slot) from an operand that holds one value. Throws
/// lamina::error if the index is negative.
inline int index_in(const call_context& c, const operand& i) {
  const std::int64_t n = integer_in(i, 0, 0);
  if (n < 0 || n >= (std::numeric_limits<int>::max)())
    fail(c, {"expected an index from 0 on, found ", n});
  return static_cast<int>(n);
}

/// Copies some parts of input `x_slot` to output `out_slot`. A part is one row of the sequence
/// level that is `levels` levels above the rows of X, with all rows below it. `each(f)` must call f
/// with the index of each chosen part, in the order of the output; choose_parts calls `each`
/// several times. It also sets the number of rows and the sequence offsets of the output.
template <class Each>
void choose_parts(const call_context& c, int x_slot, int out_slot, int levels, const Each& each) {
  const int from = c.input(x_slot).domain, to = c.output(out_slot).domain;
  make_parts(c, from, to, levels, each);
  const operand x = c.input(x_slot), out = c.output(out_slot);
  if (!out) return;
  // Chosen parts that are adjacent in X are copied as one block.
  int begin = 0, end = 0, at = 0;
  each([&](int part) {
    const int first = first_below(c, from, levels, 0, part);
    if (first != end) {
      copy_block(x, begin, out, at, end - begin);
      at += end - begin;
      begin = first;
    }
    end = first_below(c, from, levels, 0, part + 1);
  });
  copy_block(x, begin, out, at, end - begin);
}

}}}  // namespace lamina::engine::cpu
