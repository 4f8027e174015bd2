// SPDX-License-Identifier: Apache-2.0
// lamina/operators/region/roi/cpu.hpp - maxima (roi_pool) and averages (roi_align, psroi_pool) over
// the bins of regions of images.
#pragma once

#include <lamina/core/config.hpp>

#include <lamina/engine/cpu/schedule/call_context.hpp>
#include <lamina/operators/region/definition.hpp>
#include <lamina/operators/region/roi/definition.hpp>
#if LAMINA_DEFINES
#include <lamina/core/numbers/extremes.hpp>
#include <lamina/engine/cpu/memory/array_layout.hpp>
#include <lamina/engine/cpu/memory/row_parts.hpp>
#include <lamina/engine/cpu/vector/row_math.hpp>
#endif

namespace lamina { inline namespace LAMINA_ABI { namespace engine::cpu {

template <>
struct call_kernel<operators::roi_pool> {
  template <class Real = float>
  LAMINA_KERNEL static void run(const call_context& c);
};

template <>
struct call_kernel<gradient_of<operators::roi_pool>> {
  template <class Real = float>
  LAMINA_KERNEL static void run(const call_context& c);
};

#if LAMINA_DEFINES

/// Left, top, right and bottom of region r. They are float in double programs as well: a border
/// that is rounded differently would select a different region (operators/region/definition.hpp).
struct region_corners {
  float of[4];

  region_corners(const operand& regions, int r) {
    for (int i = 0; i < 4; ++i)
      of[i] = load_as<float>(regions.data, regions.type, r * regions.stride + i);
  }
  float operator[](int i) const { return of[i]; }
};

template <class Real>
void call_kernel<operators::roi_pool>::run(const call_context& c) {
  const operand x = c.input(0), regions = c.input(1), y = c.output(0), positions = c.output(1);
  require_real<Real>(c, x);
  const sequence_rows all = c.sequences(regions);
  if (all.count != x.rows) fail(c, {"expected regions of ", x.rows, " images, found ", all.count});
  const int height = c.integer(0), width = c.integer(1);
  const float scale = static_cast<float>(c.number(2));
  for (int n = 0; n < x.rows; ++n)
    for (int r = all.begin(n); r < all.end(n); ++r) {
      const region_corners region(regions, r);
      int at = 0;
      for (int channel = 0; channel < x.dims[1]; ++channel) {
        const Real* const plane =
            x.row<const Real>(n) + static_cast<std::ptrdiff_t>(channel) * x.dims[2] * x.dims[3];
        for (int i = 0; i < height; ++i)
          for (int j = 0; j < width; ++j, ++at) {
            const image_range rows = region_bin(region[1], region[3], scale, height, i, x.dims[2]);
            const image_range columns =
                region_bin(region[0], region[2], scale, width, j, x.dims[3]);
            std::int64_t position = -1;
            Real most = 0;
            for (int v = rows.begin; v < rows.end; ++v)
              for (int h = columns.begin; h < columns.end; ++h) {
                const std::ptrdiff_t k = static_cast<std::ptrdiff_t>(v) * x.dims[3] + h;
                if (position >= 0 && !math::is_above(plane[k], most)) continue;
                most = plane[k];
                position = k;
              }
            if (y) y.row<Real>(r)[at] = most;
            if (positions) positions.row<std::int64_t>(r)[at] = position;
          }
      }
    }
}
LAMINA_INSTANCE(void call_kernel<operators::roi_pool>::run<float>(const call_context&))
LAMINA_INSTANCE(void call_kernel<operators::roi_pool>::run<double>(const call_context&))

template <class Real>
void call_kernel<gradient_of<operators::roi_pool>>::run(const call_context& c) {
  const operand x = c.input(0), positions = c.input(2), d = c.input(3), dx = c.output(0);
  if (!dx) return;
  clear(dx);
  const sequence_rows all = c.sequences(c.input(1));
  const std::ptrdiff_t plane = static_cast<std::ptrdiff_t>(x.dims[2]) * x.dims[3];
  const int bins = d.columns / x.dims[1];
  for (int n = 0; n < x.rows; ++n)
    for (int r = all.begin(n); r < all.end(n); ++r)
      for (int i = 0; i < d.columns; ++i) {
        const std::int64_t position = positions.row<const std::int64_t>(r)[i];
        if (position >= 0) dx.row<Real>(n)[i / bins * plane + position] += d.row<const Real>(r)[i];
      }
}
LAMINA_INSTANCE(void call_kernel<gradient_of<operators::roi_pool>>::run<float>(const call_context&))
LAMINA_INSTANCE(
    void call_kernel<gradient_of<operators::roi_pool>>::run<double>(const call_context&))

#endif  // LAMINA_DEFINES

#if LAMINA_DEFINES

namespace detail {

/// Calls f(image, region) for all regions of all images.
template <class F>
void for_each_region(const call_context& c, const operand& x, const operand& regions, F f) {
  const sequence_rows all = c.sequences(regions);
  if (all.count != x.rows) fail(c, {"expected regions of ", x.rows, " images, found ", all.count});
  for (int n = 0; n < x.rows; ++n)
    for (int r = all.begin(n); r < all.end(n); ++r) f(n, r);
}

/// Calls f(image, region, position in Out, position in X, weight) for each image element that
/// contributes to an element of Out of roi_align. Skips weights of 0, so that an infinite element
/// does not spread.
template <class F>
void for_each_aligned(const call_context& c, const operand& x, const operand& regions, F f) {
  const float scale = static_cast<float>(c.number(0));
  const int height = c.integer(1), width = c.integer(2), ratio = c.integer(3);
  const bool aligned = c.integer(4) != 0;
  const int h = x.dims[2], w = x.dims[3];
  for_each_region(c, x, regions, [&](int n, int r) {
    const region_corners region(regions, r);
    const region_side rows = region_side_of(region[1], region[3], scale, height, ratio, aligned);
    const region_side columns = region_side_of(region[0], region[2], scale, width, ratio, aligned);
    const float fraction = 1.0f / static_cast<float>(rows.points * columns.points);
    for (int i = 0; i < height; ++i)
      for (int j = 0; j < width; ++j)
        for (int k = 0; k < rows.points * columns.points; ++k) {
          const neighbours y = neighbours_of(rows.at(i, k / columns.points), h);
          const neighbours z = neighbours_of(columns.at(j, k % columns.points), w);
          if (y.outside || z.outside) continue;
          const int position[] = {y.low * w + z.low, y.low * w + z.high, y.high * w + z.low,
                                  y.high * w + z.high};
          const float weight[] = {(1 - y.fraction) * (1 - z.fraction),
                                  (1 - y.fraction) * z.fraction, y.fraction * (1 - z.fraction),
                                  y.fraction * z.fraction};
          for (int channel = 0; channel < x.dims[1]; ++channel)
            for (int q = 0; q < 4; ++q)
              if (weight[q] != 0)
                f(n, r, (channel * height + i) * width + j,
                  static_cast<std::ptrdiff_t>(channel) * h * w + position[q], weight[q] * fraction);
        }
  });
}

/// Calls f(image, region, position in Out, position in X, weight) for each image element that
/// contributes to an element of Out of psroi_pool.
template <class F>
void for_each_scored(const call_context& c, const operand& x, const operand& regions, F f) {
  const int channels = c.integer(0), height = c.integer(2), width = c.integer(3);
  const float scale = static_cast<float>(c.number(1));
  if (channels * height * width != x.dims[1])
    fail(c, {"expected ", channels * height * width, " channels, found ", x.dims[1]});
  const int w = x.dims[3];
  for_each_region(c, x, regions, [&](int n, int r) {
    const region_corners region(regions, r);
    for (int i = 0; i < height; ++i)
      for (int j = 0; j < width; ++j) {
        const image_range rows = scored_bin(region[1], region[3], scale, height, i, x.dims[2]);
        const image_range columns = scored_bin(region[0], region[2], scale, width, j, w);
        const int count = (rows.end - rows.begin) * (columns.end - columns.begin);
        for (int channel = 0; channel < channels; ++channel) {
          const int at = (channel * height + i) * width + j;
          const std::ptrdiff_t plane = static_cast<std::ptrdiff_t>(at) * x.dims[2] * w;
          for (int v = rows.begin; v < rows.end; ++v)
            for (int u = columns.begin; u < columns.end; ++u)
              f(n, r, at, plane + static_cast<std::ptrdiff_t>(v) * w + u,
                1.0f / static_cast<float>(count));
        }
      }
  });
}

template <class Real, class ForEach>
void sum_regions(const call_context& c, ForEach for_each) {
  const operand x = c.input(0), regions = c.input(1), out = c.output(0);
  require_real<Real>(c, x);
  clear(out);
  for_each(c, x, regions, [&](int n, int r, int to, std::ptrdiff_t from, float weight) {
    out.row<Real>(r)[to] += weight * x.row<const Real>(n)[from];
  });
}
template <class Real, class ForEach>
void spread_regions(const call_context& c, ForEach for_each) {
  const operand x = c.input(0), regions = c.input(1), grad = c.input(2), dx = c.output(0);
  if (!dx) return;
  clear(dx);
  for_each(c, x, regions, [&](int n, int r, int from, std::ptrdiff_t to, float weight) {
    dx.row<Real>(n)[to] += weight * grad.row<const Real>(r)[from];
  });
}

inline constexpr auto aligned = [](const auto&... a) { for_each_aligned(a...); };
inline constexpr auto scored = [](const auto&... a) { for_each_scored(a...); };

}  // namespace detail

#endif  // LAMINA_DEFINES

template <>
struct call_kernel<operators::roi_align> {
  template <class Real = float>
  LAMINA_KERNEL static void run(const call_context& c);
};
template <>
struct call_kernel<gradient_of<operators::roi_align>> {
  template <class Real = float>
  LAMINA_KERNEL static void run(const call_context& c);
};
template <>
struct call_kernel<operators::psroi_pool> {
  template <class Real = float>
  LAMINA_KERNEL static void run(const call_context& c);
};
template <>
struct call_kernel<gradient_of<operators::psroi_pool>> {
  template <class Real = float>
  LAMINA_KERNEL static void run(const call_context& c);
};

#if LAMINA_DEFINES

template <class Real>
void call_kernel<operators::roi_align>::run(const call_context& c) {
  detail::sum_regions<Real>(c, detail::aligned);
}
LAMINA_INSTANCE(void call_kernel<operators::roi_align>::run<float>(const call_context&))
LAMINA_INSTANCE(void call_kernel<operators::roi_align>::run<double>(const call_context&))

template <class Real>
void call_kernel<gradient_of<operators::roi_align>>::run(const call_context& c) {
  detail::spread_regions<Real>(c, detail::aligned);
}
LAMINA_INSTANCE(
    void call_kernel<gradient_of<operators::roi_align>>::run<float>(const call_context&))
LAMINA_INSTANCE(
    void call_kernel<gradient_of<operators::roi_align>>::run<double>(const call_context&))

template <class Real>
void call_kernel<operators::psroi_pool>::run(const call_context& c) {
  detail::sum_regions<Real>(c, detail::scored);
}
LAMINA_INSTANCE(void call_kernel<operators::psroi_pool>::run<float>(const call_context&))
LAMINA_INSTANCE(void call_kernel<operators::psroi_pool>::run<double>(const call_context&))

template <class Real>
void call_kernel<gradient_of<operators::psroi_pool>>::run(const call_context& c) {
  detail::spread_regions<Real>(c, detail::scored);
}
LAMINA_INSTANCE(
    void call_kernel<gradient_of<operators::psroi_pool>>::run<float>(const call_context&))
LAMINA_INSTANCE(
    void call_kernel<gradient_of<operators::psroi_pool>>::run<double>(const call_context&))

#endif  // LAMINA_DEFINES

}}}  // namespace lamina::engine::cpu
