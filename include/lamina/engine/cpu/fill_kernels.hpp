// SPDX-License-Identifier: Apache-2.0
// lamina/engine/cpu/fill_kernels.hpp - constants.
#pragma once

#include <lamina/engine/cpu/call_context.hpp>
#include <lamina/operators/fill.hpp>

namespace lamina::engine::cpu {

namespace detail {

template <class T>
void fill_rows(const operand& to, double value) {
  for (int r = 0; r < to.rows; ++r)
    for (int j = 0; j < to.columns; ++j) to.row<T>(r)[j] = static_cast<T>(value);
}

inline void fill(const operand& to, double value) {
  switch (to.type) {
    case dtype::float32:
      return fill_rows<float>(to, value);
    case dtype::float64:
      return fill_rows<double>(to, value);
    case dtype::int64:
      return fill_rows<std::int64_t>(to, value);
    case dtype::int32:
      return fill_rows<std::int32_t>(to, value);
    case dtype::int16:
      return fill_rows<std::int16_t>(to, value);
    case dtype::int8:
      return fill_rows<std::int8_t>(to, value);
    case dtype::boolean:
      return fill_rows<bool>(to, value);
    default:
      return fill_rows<std::uint8_t>(to, value);
  }
}

}  // namespace detail

template <>
struct call_kernel<fill_constant> {
  static void run(const call_context& c) { detail::fill(c.output(0), c.number(2)); }
};

}  // namespace lamina::engine::cpu
