// SPDX-License-Identifier: Apache-2.0
// lamina/operators/sequence/cpu.hpp - functions that copy rows, for all sequence operators.
#pragma once

#include <lamina/core/config.hpp>

#include <cstring>

#include <lamina/engine/cpu/memory/row_parts.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace engine::cpu::detail {

/// Copies row `from` of x to row `to` of out, which has the same type.
inline void copy_row(const operand& x, int from, const operand& out, int to) {
  const std::ptrdiff_t width = size_of(x.type);
  std::memcpy(static_cast<char*>(out.data) + to * out.stride * width,
              static_cast<const char*>(x.data) + from * x.stride * width,
              static_cast<std::size_t>(x.columns * width));
}

/// Copies all rows of x to out. Fails if x and out have different numbers of rows.
inline void copy_rows(const call_context& c, const operand& x, const operand& out) {
  if (x.rows != out.rows) fail(c, {"expected ", out.rows, " rows, found ", x.rows});
  for (int r = 0; r < x.rows; ++r) copy_row(x, r, out, r);
}

}}}  // namespace lamina::engine::cpu::detail
