// SPDX-License-Identifier: Apache-2.0
// lamina/operators/order/argsort/cpu.hpp - argsort, arg_max and arg_min, which compare elements
// along a dimension.
#pragma once

#include <lamina/core/config.hpp>

#include <algorithm>

#include <lamina/core/numbers/extremes.hpp>
#include <lamina/engine/cpu/vector/row_math.hpp>
#include <lamina/operators/order/argsort/common.hpp>
#include <lamina/operators/order/argsort/definition.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace engine::cpu {

namespace detail {

/// Whether a comes before b in ascending order. NaN counts as larger than all numbers.
template <class T>
bool is_less(T a, T b) {
  return a < b || (a == a && b != b);
}

}  // namespace detail

template <>
struct call_kernel<operators::argsort> {
  template <class Real = float>
  LAMINA_KERNEL static std::ptrdiff_t scratch(const call_context& c);
  template <class Real = float>
  LAMINA_KERNEL static void run(const call_context& c);

 private:
  template <class Value>
  static void sort_all(const call_context& c, Value value) {
    const operand in = c.input(0), out = c.output(0), indices = c.output(1);
    const array_layout shape = layout_of(in);
    const int axis = dimension_of(c, c.integer(0), shape.rank);
    const bool descending = c.flag(1);
    // Out and Indices may have different padding between their rows.
    const line_layout x(shape, axis);
    const line_layout y(layout_of(out ? out : indices), axis);
    const line_layout numbers(layout_of(indices ? indices : out), axis);
    std::int64_t* const order = reinterpret_cast<std::int64_t*>(c.scratch());
    for (int r = 0; r < x.rows; ++r)
      for (int o = 0; o < x.outer; ++o)
        for (int i = 0; i < x.inner; ++i) {
          const std::ptrdiff_t first = x.at(r, o) + i;
          for (int k = 0; k < x.n; ++k) order[k] = k;
          // Equal elements are compared by position, so that they keep their order.
          // std::stable_sort would need no such comparison, but allocates memory.
          std::sort(order, order + x.n, [&](std::int64_t a, std::int64_t b) {
            const auto u = value(first + a * x.step), v = value(first + b * x.step);
            const bool less = detail::is_less(u, v), more = detail::is_less(v, u);
            return less || more ? less != descending : a < b;
          });
          if (indices)
            for (int k = 0; k < x.n; ++k)
              indices.row<std::int64_t>(0)[numbers.at(r, o) + i + k * numbers.step] = order[k];
          if (out)
            with_word(in.type, [&]<class T>(T) {
              for (int k = 0; k < x.n; ++k)
                out.row<T>(0)[y.at(r, o) + i + k * y.step] =
                    in.row<const T>(0)[first + order[k] * x.step];
            });
        }
  }
};

template <>
struct call_kernel<gradient_of<operators::argsort>> {
  template <class Real = float>
  LAMINA_KERNEL static void run(const call_context& c);
};

namespace detail {

template <bool Largest>
struct arg_extreme_kernel {
  template <class Real = float>
  static void run(const call_context& c) {
    const operand in = c.input(0), out = c.output(0);
    const arg_extreme_layout l(c, in, out);
    const std::ptrdiff_t n = l.n, step = l.step;
    const std::ptrdiff_t xs = l.lines.inner_step(0), ys = l.lines.inner_step(1);
    with_type(in.type, [&]<class T>(T) {
      l.lines.run([&](const std::ptrdiff_t* at, std::ptrdiff_t count) {
        const T* from = in.row<const T>(0) + at[0];
        for (std::ptrdiff_t i = 0; i < count; ++i, from += xs) {
          std::ptrdiff_t best = 0;
          for (std::ptrdiff_t k = 1; k < n; ++k)
            if (Largest ? math::is_above(from[k * step], from[best * step])
                        : math::is_below(from[k * step], from[best * step]))
              best = k;
          store_as(out.data, out.type, at[1] + i * ys, static_cast<std::int64_t>(best));
        }
      });
    });
  }
};

}  // namespace detail

template <>
struct call_kernel<operators::arg_max> : detail::arg_extreme_kernel<true> {};
template <>
struct call_kernel<operators::arg_min> : detail::arg_extreme_kernel<false> {};

#if LAMINA_DEFINES

template <class Real>
std::ptrdiff_t call_kernel<operators::argsort>::scratch(const call_context& c) {
  const operand in = c.input(0);
  const array_layout shape = layout_of(in);
  return 2 * shape.extent[dimension_of(c, c.integer(0), shape.rank)];
}
LAMINA_INSTANCE(std::ptrdiff_t call_kernel<operators::argsort>::scratch<float>(const call_context&))
LAMINA_INSTANCE(
    std::ptrdiff_t call_kernel<operators::argsort>::scratch<double>(const call_context&))

template <class Real>
void call_kernel<operators::argsort>::run(const call_context& c) {
  const operand in = c.input(0);
  if (in.type == dtype::float32)
    sort_all(c, [x = in.row<const float>(0)](std::ptrdiff_t at) { return x[at]; });
  else if (is_floating(in.type))
    sort_all(c, [&](std::ptrdiff_t at) { return load_as<double>(in.data, in.type, at); });
  else
    sort_all(c, [&](std::ptrdiff_t at) { return load_as<std::int64_t>(in.data, in.type, at); });
}
LAMINA_INSTANCE(void call_kernel<operators::argsort>::run<float>(const call_context&))
LAMINA_INSTANCE(void call_kernel<operators::argsort>::run<double>(const call_context&))

template <class Real>
void call_kernel<gradient_of<operators::argsort>>::run(const call_context& c) {
  const operand indices = c.input(1), grad = c.input(2), dx = c.output(0);
  if (!dx) return;
  require_real<Real>(c, dx);
  const array_layout shape = layout_of(dx);
  const int axis = dimension_of(c, c.integer(0), shape.rank);
  const line_layout to(shape, axis), from(layout_of(grad), axis), numbers(layout_of(indices), axis);
  for (int r = 0; r < to.rows; ++r)
    for (int o = 0; o < to.outer; ++o)
      for (int i = 0; i < to.inner; ++i)
        for (int k = 0; k < to.n; ++k) {
          const std::int64_t position =
              indices.row<const std::int64_t>(0)[numbers.at(r, o) + i + k * numbers.step];
          dx.row<Real>(0)[to.at(r, o) + i + position * to.step] =
              grad.row<const Real>(0)[from.at(r, o) + i + k * from.step];
        }
}
LAMINA_INSTANCE(void call_kernel<gradient_of<operators::argsort>>::run<float>(const call_context&))
LAMINA_INSTANCE(void call_kernel<gradient_of<operators::argsort>>::run<double>(const call_context&))

#endif  // LAMINA_DEFINES

}}}  // namespace lamina::engine::cpu
