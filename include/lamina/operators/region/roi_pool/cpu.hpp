// SPDX-License-Identifier: Apache-2.0
// lamina/operators/region/roi_pool/cpu.hpp - maxima over the parts of regions.
#pragma once

#include <lamina/core/config.hpp>

#include <lamina/engine/cpu/schedule/call_context.hpp>
#include <lamina/operators/region/definition.hpp>
#include <lamina/operators/region/roi_pool/definition.hpp>
#if LAMINA_DEFINES
#include <lamina/core/numbers/extremes.hpp>
#include <lamina/engine/cpu/vector/row_math.hpp>
#include <lamina/operators/region/cpu.hpp>
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
            const image_range rows = region_part(region[1], region[3], scale, height, i, x.dims[2]);
            const image_range columns =
                region_part(region[0], region[2], scale, width, j, x.dims[3]);
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
  const int parts = d.columns / x.dims[1];
  for (int n = 0; n < x.rows; ++n)
    for (int r = all.begin(n); r < all.end(n); ++r)
      for (int i = 0; i < d.columns; ++i) {
        const std::int64_t position = positions.row<const std::int64_t>(r)[i];
        if (position >= 0) dx.row<Real>(n)[i / parts * plane + position] += d.row<const Real>(r)[i];
      }
}
LAMINA_INSTANCE(void call_kernel<gradient_of<operators::roi_pool>>::run<float>(const call_context&))
LAMINA_INSTANCE(
    void call_kernel<gradient_of<operators::roi_pool>>::run<double>(const call_context&))

#endif  // LAMINA_DEFINES

}}}  // namespace lamina::engine::cpu
