// SPDX-License-Identifier: Apache-2.0
// lamina/operators/shape/query/cpu.hpp - shape, is_empty and where_index, which tell what is known
// of a variable only during a run, and range.
#pragma once

#include <lamina/core/config.hpp>

#include <cmath>

#include <lamina/engine/cpu/memory/row_parts.hpp>
#include <lamina/engine/cpu/schedule/call_context.hpp>
#include <lamina/engine/cpu/vector/row_math.hpp>
#include <lamina/operators/shape/query/definition.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace engine::cpu {

template <>
struct call_kernel<operators::shape> {
  template <class Real = float>
  LAMINA_KERNEL static void run(const call_context& c);
};

template <>
struct call_kernel<operators::is_empty> {
  template <class Real = float>
  LAMINA_KERNEL static void run(const call_context& c);
};

template <>
struct call_kernel<operators::where_index> {
  template <class Real = float>
  LAMINA_KERNEL static void run(const call_context& c);

 private:
  static bool holds(const operand& x, int r, int j) {
    return load_as<bool>(x.data, x.type, r * x.stride + j);
  }
};

template <>
struct call_kernel<operators::range> {
  template <class Real = float>
  LAMINA_KERNEL static void run(const call_context& c);

 private:
  static double number_in(const operand& o) { return load_as<double>(o.data, o.type, 0); }
};

#if LAMINA_DEFINES

template <class Real>
void call_kernel<operators::shape>::run(const call_context& c) {
  const array_layout x = layout_of(c.input(0));
  const operand out = c.output(0);
  for (int d = 0; d < x.rank; ++d)
    store_as(out.data, out.type, d, static_cast<std::int64_t>(x.extent[d]));
}
LAMINA_INSTANCE(void call_kernel<operators::shape>::run<float>(const call_context&))
LAMINA_INSTANCE(void call_kernel<operators::shape>::run<double>(const call_context&))

template <class Real>
void call_kernel<operators::is_empty>::run(const call_context& c) {
  const operand out = c.output(0);
  store_as(out.data, out.type, 0, layout_of(c.input(0)).size() == 0 ? 1 : 0);
}
LAMINA_INSTANCE(void call_kernel<operators::is_empty>::run<float>(const call_context&))
LAMINA_INSTANCE(void call_kernel<operators::is_empty>::run<double>(const call_context&))

template <class Real>
void call_kernel<operators::where_index>::run(const call_context& c) {
  {
    const operand condition = c.input(0);
    make_sequences(c, c.output(0).domain, condition.rows, [&](int r) {
      const operand x = c.input(0);
      int n = 0;
      for (int j = 0; j < x.columns; ++j) n += holds(x, r, j) ? 1 : 0;
      return n;
    });
  }
  const operand x = c.input(0), out = c.output(0);
  if (!out) return;
  const array_layout shape = layout_of(x);
  const std::int64_t first = x.domain != 0 ? c.run().first_row[x.domain] : 0;
  int to = 0;
  for (int r = 0; r < x.rows; ++r)
    for (int j = 0; j < x.columns; ++j) {
      if (!holds(x, r, j)) continue;
      std::int64_t* const position = out.row<std::int64_t>(to++);
      std::ptrdiff_t rest = j;
      for (int d = shape.rank; --d > 0; rest /= shape.extent[d])
        position[d] = rest % shape.extent[d];
      position[0] = first + r;
    }
}
LAMINA_INSTANCE(void call_kernel<operators::where_index>::run<float>(const call_context&))
LAMINA_INSTANCE(void call_kernel<operators::where_index>::run<double>(const call_context&))

template <class Real>
void call_kernel<operators::range>::run(const call_context& c) {
  const operand start = c.input(0), end = c.input(1), step = c.input(2), out = c.output(0);
  const double first = number_in(start), last = number_in(end), by = number_in(step);
  const std::ptrdiff_t size = layout_of(out).size();
  const double expected = by == 0 ? 0 : std::ceil((last - first) / by);
  if (expected != static_cast<double>(size))
    fail(c, {"expected ", size, " numbers, found a start, an end and a step of ",
             static_cast<float>(expected)});
  with_type(out.type, [&](auto like) {
    using T = decltype(like);
    for (std::ptrdiff_t i = 0; i < size; ++i)
      static_cast<T*>(out.data)[i] = static_cast<T>(first + static_cast<double>(i) * by);
  });
}
LAMINA_INSTANCE(void call_kernel<operators::range>::run<float>(const call_context&))
LAMINA_INSTANCE(void call_kernel<operators::range>::run<double>(const call_context&))

#endif  // LAMINA_DEFINES

}}}  // namespace lamina::engine::cpu
