// SPDX-License-Identifier: Apache-2.0
// lamina/operators/region/roi_pool/cuda.cuh - maxima over the parts of regions: roi_pool.
#pragma once

#include <lamina/core/config.hpp>

#include <lamina/core/numbers/extremes.hpp>
#include <lamina/engine/cuda/body/channel_position.cuh>
#include <lamina/engine/cuda/body/recurrent_body.cuh>
#include <lamina/operators/region/definition.hpp>
#include <lamina/operators/region/roi_pool/definition.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace engine::cuda {

namespace detail {

/// Sequence n of the regions belongs to image n.
struct region_arguments {
  sequence_view all;
  row_array x, regions, y;  // `x`: images or their gradient; `y`: Out or its gradient
  std::int64_t* positions;
  std::ptrdiff_t positions_stride;
  divider columns, parts, across;  // columns of Out, parts of a region, parts per row of parts
  int channels;
  int down, over;  // height and width of an image
  float scale;
  int lines, width, count;

  LAMINA_INLINE LAMINA_FN int image_of(int region) const {
    int begin = 0, end = all.count - 1;
    while (begin < end) {
      const int middle = (begin + end) / 2;
      if (all.end(middle) <= region)
        begin = middle + 1;
      else
        end = middle;
    }
    return begin;
  }
};

struct region_body {
  using arguments = region_arguments;
  static LAMINA_INLINE LAMINA_FN void run(const arguments& a, int i) {
    const channel_position to(a.columns, a.parts, i);
    int across = to.inside;
    const int r = to.row, down = a.across.divide(across);
    const float* const region = a.regions.row(r);
    const float* const plane = a.x.row(a.image_of(r)) + to.channel * a.down * a.over;
    const image_range rows = region_part(region[1], region[3], a.scale,
                                         a.parts.divisor() / a.across.divisor(), down, a.down);
    const image_range columns =
        region_part(region[0], region[2], a.scale, a.across.divisor(), across, a.over);
    int position = -1;
    float most = 0;
    for (int v = rows.begin; v < rows.end; ++v)
      for (int h = columns.begin; h < columns.end; ++h) {
        const int k = v * a.over + h;
        if (position >= 0 && !math::is_above(plane[k], most)) continue;
        most = plane[k];
        position = k;
      }
    if (a.y) a.y.row(r)[to.at] = most;
    if (a.positions != nullptr) a.positions[r * a.positions_stride + to.at] = position;
  }
};

/// Line i is a channel of an image. Each thread owns some of its positions and visits all parts of
/// the image's regions in order.
struct region_grad_lines {
  using arguments = region_arguments;
  template <class Team>
  static LAMINA_INLINE LAMINA_FN void line(const arguments& a, int i, const Team& team) {
    const int image = i / a.channels, channel = i % a.channels, parts = a.parts.divisor();
    float* const plane = a.x.row(image) + channel * a.down * a.over;
    for (int k = team.rank(); k < a.down * a.over; k += team.size()) plane[k] = 0;
    for (int r = a.all.begin(image); r < a.all.end(image); ++r) {
      const std::int64_t* const positions = a.positions + r * a.positions_stride + channel * parts;
      const float* const d = a.y.row(r) + channel * parts;
      for (int k = 0; k < parts; ++k)
        if (positions[k] >= 0 && static_cast<int>(positions[k]) % team.size() == team.rank())
          plane[positions[k]] += d[k];
    }
  }
};

inline region_arguments regions_of(const call_context& c, const operand& x, const operand& y,
                                   int height, int width, float scale) {
  const operand regions = c.input(1);
  region_arguments a{};
  a.all = c.sequences(regions.domain);
  if (a.all.count != x.rows)
    fail(c, {"expected regions of ", x.rows, " images, found ", a.all.count});
  a.x = x;
  a.regions = regions;
  a.y = y;
  a.columns = divider(y.columns);
  a.parts = divider(height * width);
  a.across = divider(width);
  a.channels = x.dims[1];
  a.down = x.dims[2];
  a.over = x.dims[3];
  a.scale = scale;
  a.count = y.rows * y.columns;
  return a;
}
/// The kernel arguments of roi_pool.
inline region_arguments pooled_regions_of(const call_context& c, const operand& x,
                                          const operand& y) {
  return regions_of(c, x, y, c.integer(0), c.integer(1), static_cast<float>(c.number(2)));
}

}  // namespace detail

template <>
struct call_kernel<operators::roi_pool> {
  static constexpr bool launches = true;
  template <class Backend>
  static void launch(Backend& b, const call_context& c) {
    const operand x = c.input(0), positions = c.output(1);
    require_float(c, x);
    auto a = detail::pooled_regions_of(c, x, c.output(0));
    a.positions = positions ? positions.row<std::int64_t>(0) : nullptr;
    a.positions_stride = positions.stride;
    b.template elements<detail::region_body>(a);
  }
};
template <>
struct call_kernel<gradient_of<operators::roi_pool>> {
  static constexpr bool launches = true;
  template <class Backend>
  static void launch(Backend& b, const call_context& c) {
    const operand positions = c.input(2), dx = c.output(0);
    if (!dx) return;
    auto a = detail::pooled_regions_of(c, dx, c.input(3));
    a.positions = positions.row<std::int64_t>(0);
    a.positions_stride = positions.stride;
    a.lines = dx.rows * a.channels;
    a.width = a.down * a.over;
    if (a.lines > 0) b.template lines<team_lines<detail::region_grad_lines>>(a);
  }
};

}}}  // namespace lamina::engine::cuda
