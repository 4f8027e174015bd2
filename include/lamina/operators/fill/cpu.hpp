// SPDX-License-Identifier: Apache-2.0
// lamina/operators/fill/cpu.hpp - operators whose results are constants: fill_constant,
// assign_value.
#pragma once

#include <lamina/core/config.hpp>

#include <cstddef>
#include <cstring>

#include <lamina/engine/cpu/memory/array_layout.hpp>
#include <lamina/engine/cpu/schedule/call_context.hpp>
#include <lamina/operators/fill/definition.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace engine::cpu {

namespace detail {

inline void fill(const operand& to, double value) {
  if (to.rows == 0 || to.columns == 0) return;
  store_as(to.data, to.type, 0, value);
  // Copies bytes, which works for every element type. The first row is filled by copies of its own
  // beginning, each twice as long as the one before; then the row is copied to all other rows.
  const std::size_t width = static_cast<std::size_t>(size_of(to.type));
  const std::size_t row = width * static_cast<std::size_t>(to.columns);
  const std::size_t step = width * static_cast<std::size_t>(to.stride);
  char* const first = static_cast<char*>(to.data);
  for (std::size_t n = width; n < row; n *= 2)
    std::memcpy(first + n, first, n < row - n ? n : row - n);
  for (int r = 1; r < to.rows; ++r)
    std::memcpy(first + static_cast<std::size_t>(r) * step, first, row);
}

}  // namespace detail

template <>
struct call_kernel<operators::fill_constant> {
  template <class Real = float>
  LAMINA_KERNEL static void run(const call_context& c);
};

template <>
struct call_kernel<operators::assign_value> {
  template <class Real = float>
  LAMINA_KERNEL static void run(const call_context& c);
};

#if LAMINA_DEFINES

template <class Real>
void call_kernel<operators::fill_constant>::run(const call_context& c) {
  detail::fill(c.output(0), c.number(2));
}
LAMINA_INSTANCE(void call_kernel<operators::fill_constant>::run<float>(const call_context&))
LAMINA_INSTANCE(void call_kernel<operators::fill_constant>::run<double>(const call_context&))

template <class Real>
void call_kernel<operators::assign_value>::run(const call_context& c) {
  const operand out = c.output(0);
  const int reals = c.list_size(2), integers = c.list_size(3);
  const std::ptrdiff_t size = static_cast<std::ptrdiff_t>(out.rows) * out.columns;
  if ((reals > 0 ? reals : integers) != size)
    fail(c, {"expected ", size, " values, found ", reals > 0 ? reals : integers});
  int i = 0;
  for (int r = 0; r < out.rows; ++r)
    for (int j = 0; j < out.columns; ++j, ++i) {
      const std::ptrdiff_t at = r * out.stride + j;
      if (reals > 0)
        store_as(out.data, out.type, at, c.real_at(2, i));
      else
        store_as(out.data, out.type, at, c.integer_at(3, i));
    }
}
LAMINA_INSTANCE(void call_kernel<operators::assign_value>::run<float>(const call_context&))
LAMINA_INSTANCE(void call_kernel<operators::assign_value>::run<double>(const call_context&))

#endif  // LAMINA_DEFINES

}}}  // namespace lamina::engine::cpu
