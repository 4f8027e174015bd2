// SPDX-License-Identifier: Apache-2.0
// lamina/operators/region/roi_pool/cuda.cuh - maxima over the parts of regions: roi_pool.
#pragma once

#include <lamina/core/config.hpp>

#include <lamina/core/numbers/extremes.hpp>
#include <lamina/engine/cuda/body/bound_kernel.cuh>
#include <lamina/engine/cuda/body/channel_position.cuh>
#include <lamina/operators/region/definition.hpp>
#include <lamina/operators/region/roi_pool/definition.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace engine::cuda {

namespace detail {

/// The sequences of the regions in input 1. Sequence n belongs to image n.
inline sequence_view regions_of(const call_context& c, const operand& images) {
  const sequence_view all = c.sequences(c.input(1).domain);
  if (all.count != images.rows)
    fail(c, {"expected regions of ", images.rows, " images, found ", all.count});
  return all;
}

/// The arguments of an operator on regions: the numbers of its attributes, and in a gradient
/// operator the input that holds the gradient of Out.
template <int Height, int Width, int Scale, int Grad = -1>
struct region_call : kernel_call {
  operand images() const { return Grad < 0 ? input(0) : output(0); }
  operand pooled() const { return Grad < 0 ? output(0) : input(Grad); }

  row_array x = images(), regions = input(1), y = pooled();  // with Grad: x and y are gradients
  sequence_view all = regions_of(*call, images());
  int channels = images().dims[1];
  int down = images().dims[2], over = images().dims[3];  // height and width of an image
  // Columns of Out, parts of a region, parts per row of parts.
  divider columns{pooled().columns}, parts{integer(Height) * integer(Width)},
      across{integer(Width)};
  float scale = real(Scale);

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

struct roi_pool_kernel : region_call<0, 1, 2> {
  std::int64_t* positions = output(1) ? output(1).row<std::int64_t>(0) : nullptr;
  std::ptrdiff_t positions_stride = output(1).stride;
  int count = pooled().rows * pooled().columns;

  LAMINA_INLINE LAMINA_FN void run(int i) const {
    const channel_position to(columns, parts, i);
    int part = to.inside;
    const int r = to.row, row = across.divide(part);
    const float* const region = regions.row(r);
    const float* const plane = x.row(image_of(r)) + to.channel * down * over;
    const image_range rows =
        region_part(region[1], region[3], scale, parts.divisor() / across.divisor(), row, down);
    const image_range side = region_part(region[0], region[2], scale, across.divisor(), part, over);
    int position = -1;
    float most = 0;
    for (int v = rows.begin; v < rows.end; ++v)
      for (int h = side.begin; h < side.end; ++h) {
        const int k = v * over + h;
        if (position >= 0 && !math::is_above(plane[k], most)) continue;
        most = plane[k];
        position = k;
      }
    if (y) y.row(r)[to.at] = most;
    if (positions != nullptr) positions[r * positions_stride + to.at] = position;
  }
};

/// Line i is a channel of an image. Each thread owns some of its positions and visits all parts of
/// the image's regions in order.
struct roi_pool_grad_kernel : region_call<0, 1, 2, 3> {
  const std::int64_t* positions = input(2).row<std::int64_t>(0);
  std::ptrdiff_t positions_stride = input(2).stride;
  int lines = images().rows * channels, width = down * over;

  template <class Team>
  LAMINA_INLINE LAMINA_FN void line(int i, const Team& team) const {
    const int image = i / channels, channel = i % channels;
    float* const plane = x.row(image) + channel * down * over;
    for (int k = team.rank(); k < down * over; k += team.size()) plane[k] = 0;
    for (int r = all.begin(image); r < all.end(image); ++r) {
      const int first = channel * parts.divisor();
      const std::int64_t* const at = positions + r * positions_stride + first;
      const float* const d = y.row(r) + first;
      for (int k = 0; k < parts.divisor(); ++k)
        if (at[k] >= 0 && static_cast<int>(at[k]) % team.size() == team.rank())
          plane[at[k]] += d[k];
    }
  }
};

}  // namespace detail

template <>
struct call_kernel<operators::roi_pool> : elements_call<detail::roi_pool_kernel> {};
template <>
struct call_kernel<gradient_of<operators::roi_pool>> : lines_call<detail::roi_pool_grad_kernel> {};

}}}  // namespace lamina::engine::cuda
