// SPDX-License-Identifier: Apache-2.0
// lamina/operators/embedding/gather/cpu.hpp - kernels of gather, scatter and multiplex, which copy
// the rows that an index selects.
#pragma once

#include <lamina/core/config.hpp>

#include <algorithm>

#include <lamina/engine/cpu/memory/label.hpp>
#include <lamina/engine/cpu/memory/selected_rows.hpp>
#include <lamina/engine/cpu/vector/row_math.hpp>
#include <lamina/operators/embedding/gather/definition.hpp>
#include <lamina/operators/embedding/lookup_table/common.hpp>
#include <lamina/operators/embedding/lookup_table/cpu.hpp>
#include <lamina/operators/embedding/lookup_table/definition.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace engine::cpu {

namespace detail {

/// Calls f(index of the entry of X, index of the entry of Out) for each element of Index.
template <class F>
void for_each_index(const call_context& c, const operand& index, std::ptrdiff_t count, F&& f) {
  std::ptrdiff_t i = 0;
  for (int r = 0; r < index.rows; ++r)
    for (int o = 0; o < index.columns; ++o, ++i) {
      const std::int64_t k = integer_in(index, r, o);
      if (k < 0 || k >= count) fail_range(c, "index", k, r, count, index);
      f(static_cast<std::ptrdiff_t>(k), i);
    }
}

}  // namespace detail

template <>
struct call_kernel<operators::gather> {
  template <class Real = float>
  LAMINA_KERNEL static void run(const call_context& c);
};

template <>
struct call_kernel<gradient_of<operators::gather>> {
  template <class Real = float>
  LAMINA_KERNEL static void run(const call_context& c);
  template <class Real = float>
  LAMINA_KERNEL static std::ptrdiff_t scratch(const call_context& c);
  static bool carries(const operand& index) {
    return call_kernel<gradient_of<operators::lookup_table>>::carries(index);
  }
};

template <>
struct call_kernel<operators::scatter> {
  template <class Real = float>
  LAMINA_KERNEL static void run(const call_context& c);
};

template <>
struct call_kernel<gradient_of<operators::scatter>> {
  /// Returns the size of scratch memory that holds, for each entry of X, 1 + the index of the last
  /// update of the entry, or 0 if the entry has no update.
  template <class Real = float>
  LAMINA_KERNEL static std::ptrdiff_t scratch(const call_context& c);
  template <class Real = float>
  LAMINA_KERNEL static void run(const call_context& c);
};

template <>
struct call_kernel<operators::multiplex> {
  template <class Real = float>
  LAMINA_KERNEL static void run(const call_context& c);
};

template <>
struct call_kernel<gradient_of<operators::multiplex>> {
  template <class Real = float>
  LAMINA_KERNEL static void run(const call_context& c);
};

#if LAMINA_DEFINES

template <class Real>
void call_kernel<operators::gather>::run(const call_context& c) {
  const operand in = c.input(0), index = c.input(1), out = c.output(0);
  const entry_layout x(in), y(out);
  with_word(in.type, [&](auto like) {
    using T = decltype(like);
    detail::for_each_index(c, index, x.count, [&](std::ptrdiff_t k, std::ptrdiff_t i) {
      std::memcpy(out.row<T>(0) + i * y.step, in.row<const T>(0) + k * x.step,
                  static_cast<std::size_t>(x.size) * sizeof(T));
    });
  });
}
LAMINA_INSTANCE(void call_kernel<operators::gather>::run<float>(const call_context&))
LAMINA_INSTANCE(void call_kernel<operators::gather>::run<double>(const call_context&))

template <class Real>
void call_kernel<gradient_of<operators::gather>>::run(const call_context& c) {
  const operand index = c.input(1), grad = c.input(2), dx = c.output(0);
  if (!dx) return;
  require_real<Real>(c, dx);
  clear(dx);
  const entry_layout x(dx), y(grad);
  Real* const rest = carries(index) ? numbers_at<Real>(c.scratch()) : nullptr;
  if (rest != nullptr) std::fill_n(rest, x.count * x.step, Real(0));
  detail::for_each_index(c, index, x.count, [&](std::ptrdiff_t k, std::ptrdiff_t i) {
    Real* to = dx.row<Real>(0) + k * x.step;
    const Real* from = grad.row<const Real>(0) + i * y.step;
    if (rest != nullptr) return add_carrying(from, x.size, to, rest + k * x.step);
    for (std::ptrdiff_t j = 0; j < x.size; ++j) to[j] += from[j];
  });
}
LAMINA_INSTANCE(void call_kernel<gradient_of<operators::gather>>::run<float>(const call_context&))
LAMINA_INSTANCE(void call_kernel<gradient_of<operators::gather>>::run<double>(const call_context&))

template <class Real>
std::ptrdiff_t call_kernel<gradient_of<operators::gather>>::scratch(const call_context& c) {
  const operand dx = c.output(0);
  if (!dx || !carries(c.input(1))) return 0;
  const entry_layout x(dx);
  return in_floats<Real>(x.count * x.step);
}
LAMINA_INSTANCE(
    std::ptrdiff_t call_kernel<gradient_of<operators::gather>>::scratch<float>(const call_context&))
LAMINA_INSTANCE(std::ptrdiff_t call_kernel<gradient_of<operators::gather>>::scratch<double>(
    const call_context&))

template <class Real>
void call_kernel<operators::scatter>::run(const call_context& c) {
  const operand in = c.input(0), ids = c.input(1), updates = c.input(2), out = c.output(0);
  const entry_layout y(out), u(updates);
  copy_elements(in, out);
  if (!c.flag(0)) {
    detail::for_each_index(c, ids, y.count, [&](std::ptrdiff_t k, std::ptrdiff_t) {
      const std::ptrdiff_t width = size_of(out.type);
      std::memset(static_cast<char*>(out.data) + k * y.step * width, 0,
                  static_cast<std::size_t>(y.size * width));
    });
    return with_type(out.type, [&](auto like) {
      using T = decltype(like);
      detail::for_each_index(c, ids, y.count, [&](std::ptrdiff_t k, std::ptrdiff_t i) {
        T* const to = out.row<T>(0) + k * y.step;
        const T* const from = updates.row<const T>(0) + i * u.step;
        for (std::ptrdiff_t j = 0; j < y.size; ++j) to[j] = static_cast<T>(to[j] + from[j]);
      });
    });
  }
  with_word(out.type, [&](auto like) {
    using T = decltype(like);
    detail::for_each_index(c, ids, y.count, [&](std::ptrdiff_t k, std::ptrdiff_t i) {
      std::memcpy(out.row<T>(0) + k * y.step, updates.row<const T>(0) + i * u.step,
                  static_cast<std::size_t>(y.size) * sizeof(T));
    });
  });
}
LAMINA_INSTANCE(void call_kernel<operators::scatter>::run<float>(const call_context&))
LAMINA_INSTANCE(void call_kernel<operators::scatter>::run<double>(const call_context&))

template <class Real>
std::ptrdiff_t call_kernel<gradient_of<operators::scatter>>::scratch(const call_context& c) {
  return entry_layout(c.input(2)).count;
}
LAMINA_INSTANCE(std::ptrdiff_t call_kernel<gradient_of<operators::scatter>>::scratch<float>(
    const call_context&))
LAMINA_INSTANCE(std::ptrdiff_t call_kernel<gradient_of<operators::scatter>>::scratch<double>(
    const call_context&))

template <class Real>
void call_kernel<gradient_of<operators::scatter>>::run(const call_context& c) {
  const operand ids = c.input(0), grad = c.input(2);
  const operand dx = c.output(0), du = c.output(1);
  require_real<Real>(c, grad);
  const entry_layout d(grad);
  int* const last = reinterpret_cast<int*>(c.scratch());
  std::fill(last, last + d.count, 0);
  detail::for_each_index(c, ids, d.count, [&](std::ptrdiff_t k, std::ptrdiff_t i) {
    last[k] = static_cast<int>(i) + 1;
  });
  if (dx) {
    copy_elements(grad, dx);
    const entry_layout x(dx);
    for (std::ptrdiff_t k = 0; k < x.count; ++k)
      if (last[k] != 0)
        std::fill(dx.row<Real>(0) + k * x.step, dx.row<Real>(0) + k * x.step + x.size, Real(0));
  }
  if (!du) return;
  const entry_layout u(du);
  const bool overwrites = c.flag(0);
  detail::for_each_index(c, ids, d.count, [&](std::ptrdiff_t k, std::ptrdiff_t i) {
    Real* const to = du.row<Real>(0) + i * u.step;
    const Real* const from = grad.row<const Real>(0) + k * d.step;
    const bool replaced = overwrites && last[k] != i + 1;
    for (std::ptrdiff_t j = 0; j < u.size; ++j) to[j] = replaced ? Real(0) : from[j];
  });
}
LAMINA_INSTANCE(void call_kernel<gradient_of<operators::scatter>>::run<float>(const call_context&))
LAMINA_INSTANCE(void call_kernel<gradient_of<operators::scatter>>::run<double>(const call_context&))

template <class Real>
void call_kernel<operators::multiplex>::run(const call_context& c) {
  const operand ids = c.input(0), out = c.output(0);
  const int count = c.input_count(1);
  for (int r = 0; r < out.rows; ++r) {
    const std::int64_t k = integer_in(ids, r, 0);
    if (k < 0 || k >= count) fail_range(c, "id", k, r, count, ids);
    const operand x = c.input(1, static_cast<int>(k));
    const std::ptrdiff_t width = size_of(x.type);
    std::memcpy(static_cast<char*>(out.data) + r * out.stride * width,
                static_cast<const char*>(x.data) + r * x.stride * width,
                static_cast<std::size_t>(x.columns * width));
  }
}
LAMINA_INSTANCE(void call_kernel<operators::multiplex>::run<float>(const call_context&))
LAMINA_INSTANCE(void call_kernel<operators::multiplex>::run<double>(const call_context&))

template <class Real>
void call_kernel<gradient_of<operators::multiplex>>::run(const call_context& c) {
  const operand ids = c.input(0), grad = c.input(1);
  for (int i = 0; i < c.output_count(0); ++i) {
    const operand dx = c.output(0, i);
    if (!dx) continue;
    require_real<Real>(c, dx);
    clear(dx);
    for (int r = 0; r < dx.rows; ++r)
      if (integer_in(ids, r, 0) == i)
        std::memcpy(dx.row<Real>(r), grad.row<const Real>(r),
                    static_cast<std::size_t>(dx.columns) * sizeof(Real));
  }
}
LAMINA_INSTANCE(
    void call_kernel<gradient_of<operators::multiplex>>::run<float>(const call_context&))
LAMINA_INSTANCE(
    void call_kernel<gradient_of<operators::multiplex>>::run<double>(const call_context&))

#endif  // LAMINA_DEFINES

}}}  // namespace lamina::engine::cpu
