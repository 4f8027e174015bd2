// SPDX-License-Identifier: Apache-2.0
// lamina/operators/region/patch/kernel.hpp - pooling of images over the windows of a pyramid.
#pragma once

#include <lamina/core/config.hpp>

#include <cstddef>

#include <lamina/core/extremes.hpp>
#include <lamina/engine/common/divider.hpp>
#include <lamina/engine/common/shared_kernel.hpp>
#include <lamina/operators/region/patch/common.hpp>
#include <lamina/operators/region/patch/definition.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace engine {

/// The largest element or the average of a window. A row of Out has the windows of level 0 of each
/// channel, then those of level 1, and so on.
template <class Real>
struct shared_kernel<operators::spp, Real> : bound_call<> {
  real_rows<const Real> x = input(0);
  real_rows<Real> y = output(0);
  pyramid of{*call, input(0)};
  divider columns{output(0).columns};
  int count = output(0).rows * output(0).columns;

  LAMINA_INLINE LAMINA_FN void run(int i) const {
    const int row = columns.divide(i);
    int at = i, level = 0;
    for (; at >= of.channels << 2 * level; ++level) at -= of.channels << 2 * level;
    const int windows = 1 << level, channel = at >> 2 * level;
    const image_range down = pyramid_window(at >> level & (windows - 1), windows, of.height);
    const image_range across = pyramid_window(at & (windows - 1), windows, of.width);
    const Real* const from =
        x.row(row) + static_cast<std::ptrdiff_t>(channel) * of.height * of.width;
    Real sum = 0, most = from[down.begin * of.width + across.begin];
    for (int v = down.begin; v < down.end; ++v)
      for (int h = across.begin; h < across.end; ++h) {
        const Real value = from[v * of.width + h];
        sum += value;
        most = math::maximum(most, value);
      }
    y.row(row)[i] = of.average ? sum / pyramid::size<Real>(down, across) : most;
  }
};

}}}  // namespace lamina::engine
