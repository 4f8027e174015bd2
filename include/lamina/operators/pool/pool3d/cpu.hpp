// SPDX-License-Identifier: Apache-2.0
// lamina/operators/pool/pool3d/cpu.hpp - pool3d, max_pool2d_with_index and unpool, pooling
// operators that networks rarely use.
#pragma once

#include <lamina/core/config.hpp>

#include <lamina/engine/cpu/schedule/call_context.hpp>
#include <lamina/operators/pool/pool3d/definition.hpp>
#if LAMINA_DEFINES
#include <lamina/core/numbers/extremes.hpp>
#include <lamina/engine/cpu/memory/label.hpp>
#include <lamina/engine/cpu/vector/row_math.hpp>
#include <lamina/operators/pool/pool3d/common.hpp>
#endif

namespace lamina { inline namespace LAMINA_ABI { namespace engine::cpu {

#if LAMINA_DEFINES

namespace detail {

/// Whether a pool3d computes averages, and whether these count padding: then a sum is divided by
/// the size of the window, else by the number of elements in the volume.
struct volume_pooling {
  bool is_average, counts_padding;

  explicit volume_pooling(const call_context& c)
      : is_average(text_of(c, 0) == "avg"), counts_padding(!c.flag(5) && !c.flag(6)) {
    if (!is_average && text_of(c, 0) != "max")
      fail(c, {"expected a pooling_type 'max' or 'avg', found '", text_of(c, 0), "'"});
  }
  template <class Real>
  Real weight(const volume_windows& w, std::ptrdiff_t held) const {
    return Real(1) / static_cast<Real>(counts_padding ? w.window_size() : held);
  }
};

}  // namespace detail

#endif  // LAMINA_DEFINES

template <>
struct call_kernel<operators::pool3d> {
  template <class Real = float>
  LAMINA_KERNEL static void run(const call_context& c);
};

template <>
struct call_kernel<gradient_of<operators::pool3d>> {
  template <class Real = float>
  LAMINA_KERNEL static void run(const call_context& c);
};

template <>
struct call_kernel<operators::max_pool2d_with_index> {
  template <class Real = float>
  LAMINA_KERNEL static void run(const call_context& c);
};

#if LAMINA_DEFINES

namespace detail {

/// Calls f(column of an element in row r of `positions`, column in row r of `many` to which its
/// position refers) for each element of the row. Fails if a position is out of range.
template <class F>
void for_each_position_of(const call_context& c, const operand& positions, const operand& many,
                          int r, F f) {
  const std::ptrdiff_t few = positions.columns / positions.dims[1];
  const std::ptrdiff_t size = many.columns / positions.dims[1];
  for (int i = 0; i < positions.columns; ++i) {
    const std::int64_t position = integer_in(positions, r, i);
    if (position < 0 || position >= size) fail_range(c, "position", position, r, size, positions);
    f(i, i / few * size + position);
  }
}

}  // namespace detail

#endif  // LAMINA_DEFINES

template <>
struct call_kernel<gradient_of<operators::max_pool2d_with_index>> {
  template <class Real = float>
  LAMINA_KERNEL static void run(const call_context& c);
};

template <>
struct call_kernel<operators::unpool> {
  template <class Real = float>
  LAMINA_KERNEL static void run(const call_context& c);
};

/// If several elements of X have the same position, only the last of them is in Out and gets the
/// gradient; the others get 0.
template <>
struct call_kernel<gradient_of<operators::unpool>> {
  /// Returns the scratch memory that holds, for each position of a row, the index of the element
  /// that was written there last.
  template <class Real = float>
  LAMINA_KERNEL static std::ptrdiff_t scratch(const call_context& c);
  template <class Real = float>
  LAMINA_KERNEL static void run(const call_context& c);
};

#if LAMINA_DEFINES

template <class Real>
void call_kernel<operators::pool3d>::run(const call_context& c) {
  const operand x = c.input(0), out = c.output(0);
  require_real<Real>(c, x);
  const volume_windows w(c, pool3d_attributes, x, out);
  const detail::volume_pooling how(c);
  for (int r = 0; r < x.rows; ++r)
    for (int channel = 0; channel < w.channels; ++channel) {
      const Real* const from = x.row<const Real>(r) + channel * w.in_size();
      Real* const to = out.row<Real>(r) + channel * w.out_size();
      w.for_each_window([&](std::ptrdiff_t at, auto held) {
        Real sum = 0, most = 0;
        std::ptrdiff_t n = 0;
        held([&](std::ptrdiff_t i) {
          sum += from[i];
          most = n++ == 0 ? from[i] : math::maximum(most, from[i]);
        });
        to[at] = how.is_average ? sum * how.weight<Real>(w, n) : most;
      });
    }
}
LAMINA_INSTANCE(void call_kernel<operators::pool3d>::run<float>(const call_context&))
LAMINA_INSTANCE(void call_kernel<operators::pool3d>::run<double>(const call_context&))

template <class Real>
void call_kernel<gradient_of<operators::pool3d>>::run(const call_context& c) {
  const operand x = c.input(0), out = c.input(1), grad = c.input(2), dx = c.output(0);
  if (!dx) return;
  clear(dx);
  const volume_windows w(c, pool3d_attributes, x, out);
  const detail::volume_pooling how(c);
  for (int r = 0; r < x.rows; ++r)
    for (int channel = 0; channel < w.channels; ++channel) {
      const Real* const from = x.row<const Real>(r) + channel * w.in_size();
      const Real* const most = out.row<const Real>(r) + channel * w.out_size();
      const Real* const d = grad.row<const Real>(r) + channel * w.out_size();
      Real* const to = dx.row<Real>(r) + channel * w.in_size();
      w.for_each_window([&](std::ptrdiff_t at, auto held) {
        std::ptrdiff_t n = 0, position = -1;
        held([&](std::ptrdiff_t i) {
          if (n++ == 0 ||
              (!math::is_same(from[position], most[at]) && math::is_same(from[i], most[at])))
            position = i;
        });
        if (n == 0) return;
        const Real part = how.is_average ? d[at] * how.weight<Real>(w, n) : Real(0);
        if (how.is_average)
          held([&](std::ptrdiff_t i) { to[i] += part; });
        else
          to[position] += d[at];
      });
    }
}
LAMINA_INSTANCE(void call_kernel<gradient_of<operators::pool3d>>::run<float>(const call_context&))
LAMINA_INSTANCE(void call_kernel<gradient_of<operators::pool3d>>::run<double>(const call_context&))

template <class Real>
void call_kernel<operators::max_pool2d_with_index>::run(const call_context& c) {
  const operand x = c.input(0), out = c.output(0), positions = c.output(1);
  require_real<Real>(c, x);
  const operand& made = out ? out : positions;
  const volume_windows w(c, indexed_pool_attributes, x, made);
  for (int r = 0; r < x.rows; ++r)
    for (int channel = 0; channel < w.channels; ++channel) {
      const Real* const from = x.row<const Real>(r) + channel * w.in_size();
      const std::ptrdiff_t first = channel * w.out_size();
      w.for_each_window([&](std::ptrdiff_t at, auto held) {
        std::ptrdiff_t position = -1;
        held([&](std::ptrdiff_t i) {
          if (position < 0 || math::is_above(from[i], from[position])) position = i;
        });
        if (out) out.row<Real>(r)[first + at] = position < 0 ? Real(0) : from[position];
        if (positions)
          positions.row<std::int32_t>(r)[first + at] = static_cast<std::int32_t>(position);
      });
    }
}
LAMINA_INSTANCE(void call_kernel<operators::max_pool2d_with_index>::run<float>(const call_context&))
LAMINA_INSTANCE(
    void call_kernel<operators::max_pool2d_with_index>::run<double>(const call_context&))

template <class Real>
void call_kernel<gradient_of<operators::max_pool2d_with_index>>::run(const call_context& c) {
  const operand positions = c.input(1), grad = c.input(2), dx = c.output(0);
  if (!dx) return;
  clear(dx);
  for (int r = 0; r < dx.rows; ++r)
    detail::for_each_position_of(c, positions, dx, r, [&](std::ptrdiff_t i, std::ptrdiff_t at) {
      dx.row<Real>(r)[at] += grad.row<const Real>(r)[i];
    });
}
LAMINA_INSTANCE(void call_kernel<gradient_of<operators::max_pool2d_with_index>>::run<float>(
    const call_context&))
LAMINA_INSTANCE(void call_kernel<gradient_of<operators::max_pool2d_with_index>>::run<double>(
    const call_context&))

template <class Real>
void call_kernel<operators::unpool>::run(const call_context& c) {
  const operand x = c.input(0), positions = c.input(1), out = c.output(0);
  require_real<Real>(c, x);
  if (text_of(c, 3) != "max")
    fail(c, {"expected an unpooling_type 'max', found '", text_of(c, 3), "'"});
  clear(out);
  for (int r = 0; r < x.rows; ++r)
    detail::for_each_position_of(c, positions, out, r, [&](std::ptrdiff_t i, std::ptrdiff_t at) {
      out.row<Real>(r)[at] = x.row<const Real>(r)[i];
    });
}
LAMINA_INSTANCE(void call_kernel<operators::unpool>::run<float>(const call_context&))
LAMINA_INSTANCE(void call_kernel<operators::unpool>::run<double>(const call_context&))

template <class Real>
std::ptrdiff_t call_kernel<gradient_of<operators::unpool>>::scratch(const call_context& c) {
  return c.input(3).columns;
}
LAMINA_INSTANCE(
    std::ptrdiff_t call_kernel<gradient_of<operators::unpool>>::scratch<float>(const call_context&))
LAMINA_INSTANCE(std::ptrdiff_t call_kernel<gradient_of<operators::unpool>>::scratch<double>(
    const call_context&))

template <class Real>
void call_kernel<gradient_of<operators::unpool>>::run(const call_context& c) {
  const operand positions = c.input(1), grad = c.input(3), dx = c.output(0);
  if (!dx) return;
  int* const last = reinterpret_cast<int*>(c.scratch());
  for (int r = 0; r < positions.rows; ++r) {
    detail::for_each_position_of(c, positions, grad, r, [&](std::ptrdiff_t i, std::ptrdiff_t at) {
      last[at] = static_cast<int>(i);
    });
    detail::for_each_position_of(c, positions, grad, r, [&](std::ptrdiff_t i, std::ptrdiff_t at) {
      dx.row<Real>(r)[i] = last[at] == i ? grad.row<const Real>(r)[at] : Real(0);
    });
  }
}
LAMINA_INSTANCE(void call_kernel<gradient_of<operators::unpool>>::run<float>(const call_context&))
LAMINA_INSTANCE(void call_kernel<gradient_of<operators::unpool>>::run<double>(const call_context&))

#endif  // LAMINA_DEFINES

}}}  // namespace lamina::engine::cpu
