// SPDX-License-Identifier: Apache-2.0
// lamina/operators/region/patch/cpu.hpp - operators on windows of images: spp, im2sequence.
#pragma once

#include <lamina/core/config.hpp>

#include <lamina/engine/cpu/schedule/call_context.hpp>
#include <lamina/operators/region/definition.hpp>
#include <lamina/operators/region/patch/definition.hpp>
#if LAMINA_DEFINES
#include <lamina/core/numbers/extremes.hpp>
#include <lamina/engine/cpu/memory/row_parts.hpp>
#include <lamina/engine/cpu/vector/row_math.hpp>
#include <lamina/operators/region/patch/common.hpp>
#endif

namespace lamina { inline namespace LAMINA_ABI { namespace engine::cpu {

#if LAMINA_DEFINES

namespace detail {

/// Calls f(image, position of a window in Out, offset of its channel, row range, column range) for
/// each window of each pyramid level.
template <class F>
void for_each_pyramid_window(const pyramid& p, int images, F f) {
  for (int r = 0; r < images; ++r) {
    std::ptrdiff_t at = 0;
    for (int level = 0; level < p.levels; ++level)
      for (int channel = 0; channel < p.channels; ++channel)
        for (int i = 0; i < 1 << level; ++i)
          for (int j = 0; j < 1 << level; ++j, ++at)
            f(r, at, static_cast<std::ptrdiff_t>(channel) * p.height * p.width,
              pyramid_window(i, 1 << level, p.height), pyramid_window(j, 1 << level, p.width));
  }
}

}  // namespace detail

#endif  // LAMINA_DEFINES

template <>
struct call_kernel<operators::spp> {
  template <class Real = float>
  LAMINA_KERNEL static void run(const call_context& c);
};

template <>
struct call_kernel<gradient_of<operators::spp>> {
  template <class Real = float>
  LAMINA_KERNEL static void run(const call_context& c);
};

#if LAMINA_DEFINES

namespace detail {

/// Calls f(window, position in the window, position in the image or -1 for padding) for all
/// elements of an image's windows.
template <class F>
void for_each_patch(const patch_grid& g, F f) {
  for (int w = 0; w < g.windows(); ++w) {
    const int top = w / g.columns * g.stride[0] - g.padding[0];
    const int left = w % g.columns * g.stride[1] - g.padding[1];
    int at = 0;
    for (int c = 0; c < g.channels; ++c)
      for (int v = top; v < top + g.kernel[0]; ++v)
        for (int h = left; h < left + g.kernel[1]; ++h, ++at) {
          const bool inside = v >= 0 && v < g.height && h >= 0 && h < g.width;
          f(w, at,
            inside ? (static_cast<std::ptrdiff_t>(c) * g.height + v) * g.width + h
                   : std::ptrdiff_t{-1});
        }
  }
}

}  // namespace detail

#endif  // LAMINA_DEFINES

template <>
struct call_kernel<operators::im2sequence> {
  template <class Real = float>
  LAMINA_KERNEL static void run(const call_context& c);
};

template <>
struct call_kernel<gradient_of<operators::im2sequence>> {
  template <class Real = float>
  LAMINA_KERNEL static void run(const call_context& c);
};

#if LAMINA_DEFINES

template <class Real>
void call_kernel<operators::spp>::run(const call_context& c) {
  const operand x = c.input(0), y = c.output(0);
  require_real<Real>(c, x);
  const pyramid p(c, x);
  detail::for_each_pyramid_window(
      p, x.rows,
      [&](int r, std::ptrdiff_t at, std::ptrdiff_t plane, image_range rows, image_range columns) {
        const Real* const from = x.row<const Real>(r) + plane;
        Real sum = 0,
             most = from[static_cast<std::ptrdiff_t>(rows.begin) * x.dims[3] + columns.begin];
        for (int v = rows.begin; v < rows.end; ++v)
          for (int h = columns.begin; h < columns.end; ++h) {
            const Real value = from[static_cast<std::ptrdiff_t>(v) * x.dims[3] + h];
            sum += value;
            most = math::maximum(most, value);
          }
        y.row<Real>(r)[at] = p.average ? sum / pyramid::size<Real>(rows, columns) : most;
      });
}
LAMINA_INSTANCE(void call_kernel<operators::spp>::run<float>(const call_context&))
LAMINA_INSTANCE(void call_kernel<operators::spp>::run<double>(const call_context&))

template <class Real>
void call_kernel<gradient_of<operators::spp>>::run(const call_context& c) {
  const operand x = c.input(0), y = c.input(1), d = c.input(2), dx = c.output(0);
  if (!dx) return;
  clear(dx);
  const pyramid p(c, x);
  detail::for_each_pyramid_window(
      p, x.rows,
      [&](int r, std::ptrdiff_t at, std::ptrdiff_t plane, image_range rows, image_range columns) {
        const Real grad = d.row<const Real>(r)[at];
        const Real mean_grad = grad / pyramid::size<Real>(rows, columns);
        for (int v = rows.begin; v < rows.end; ++v)
          for (int h = columns.begin; h < columns.end; ++h) {
            const std::ptrdiff_t k = plane + static_cast<std::ptrdiff_t>(v) * x.dims[3] + h;
            if (p.average) {
              dx.row<Real>(r)[k] += mean_grad;
            } else if (math::is_same(x.row<const Real>(r)[k], y.row<const Real>(r)[at])) {
              dx.row<Real>(r)[k] += grad;
              return;
            }
          }
      });
}
LAMINA_INSTANCE(void call_kernel<gradient_of<operators::spp>>::run<float>(const call_context&))
LAMINA_INSTANCE(void call_kernel<gradient_of<operators::spp>>::run<double>(const call_context&))

template <class Real>
void call_kernel<operators::im2sequence>::run(const call_context& c) {
  const operand x = c.input(0);
  require_real<Real>(c, x);
  const patch_grid grid(c, x);
  make_sequences(c, c.output(0).domain, x.rows, [&](int) { return grid.windows(); });
  const operand y = c.output(0);
  for (int n = 0; n < x.rows; ++n)
    detail::for_each_patch(grid, [&](int w, int at, std::ptrdiff_t from) {
      y.row<Real>(n * grid.windows() + w)[at] = from < 0 ? 0 : x.row<const Real>(n)[from];
    });
}
LAMINA_INSTANCE(void call_kernel<operators::im2sequence>::run<float>(const call_context&))
LAMINA_INSTANCE(void call_kernel<operators::im2sequence>::run<double>(const call_context&))

template <class Real>
void call_kernel<gradient_of<operators::im2sequence>>::run(const call_context& c) {
  const operand x = c.input(0), d = c.input(1), dx = c.output(0);
  if (!dx) return;
  clear(dx);
  const patch_grid grid(c, x);
  for (int n = 0; n < x.rows; ++n)
    detail::for_each_patch(grid, [&](int w, int at, std::ptrdiff_t to) {
      if (to >= 0) dx.row<Real>(n)[to] += d.row<const Real>(n * grid.windows() + w)[at];
    });
}
LAMINA_INSTANCE(
    void call_kernel<gradient_of<operators::im2sequence>>::run<float>(const call_context&))
LAMINA_INSTANCE(
    void call_kernel<gradient_of<operators::im2sequence>>::run<double>(const call_context&))

#endif  // LAMINA_DEFINES

}}}  // namespace lamina::engine::cpu
