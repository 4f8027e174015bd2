// SPDX-License-Identifier: Apache-2.0
// lamina/operators/region/roi/cuda.cuh - maxima (roi_pool) and averages (roi_align, psroi_pool)
// over the bins of regions of images.
#pragma once

#include <lamina/core/config.hpp>

#include <lamina/core/numbers/extremes.hpp>
#include <lamina/engine/cuda/body/bound_kernel.cuh>
#include <lamina/engine/cuda/body/channel_position.cuh>
#include <lamina/operators/region/definition.hpp>
#include <lamina/operators/region/roi/definition.hpp>
#include <lamina/operators/resize/cuda.cuh>

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
  int image_height = images().dims[2], image_width = images().dims[3];
  // Columns of Out, bins of a region, bins per row of bins.
  divider columns{pooled().columns}, bins{integer(Height) * integer(Width)}, across{integer(Width)};
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
    const channel_position to(columns, bins, i);
    int bin = to.inside;
    const int r = to.row, row = across.divide(bin);
    const float* const region = regions.row(r);
    const float* const plane = x.row(image_of(r)) + to.channel * image_height * image_width;
    const image_range rows = region_bin(region[1], region[3], scale,
                                        bins.divisor() / across.divisor(), row, image_height);
    const image_range side =
        region_bin(region[0], region[2], scale, across.divisor(), bin, image_width);
    int position = -1;
    float most = 0;
    for (int v = rows.begin; v < rows.end; ++v)
      for (int h = side.begin; h < side.end; ++h) {
        const int k = v * image_width + h;
        if (position >= 0 && !math::is_above(plane[k], most)) continue;
        most = plane[k];
        position = k;
      }
    if (y) y.row(r)[to.at] = most;
    if (positions != nullptr) positions[r * positions_stride + to.at] = position;
  }
};

/// Line i is a channel of an image. Each thread owns some of its positions and visits all bins of
/// the image's regions in order.
struct roi_pool_grad_kernel : region_call<0, 1, 2, 3> {
  const std::int64_t* positions = input(2).row<std::int64_t>(0);
  std::ptrdiff_t positions_stride = input(2).stride;
  int lines = images().rows * channels, width = image_height * image_width;

  template <class Team>
  LAMINA_INLINE LAMINA_FN void line(int i, const Team& team) const {
    const int image = i / channels, channel = i % channels;
    float* const plane = x.row(image) + channel * image_height * image_width;
    for (int k = team.rank(); k < image_height * image_width; k += team.size()) plane[k] = 0;
    for (int r = all.begin(image); r < all.end(image); ++r) {
      const int first = channel * bins.divisor();
      const std::int64_t* const at = positions + r * positions_stride + first;
      const float* const d = y.row(r) + first;
      for (int k = 0; k < bins.divisor(); ++k)
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

namespace detail {

/// The sample points of the bins of regions.
template <int Grad = -1>
struct aligned_call : region_call<1, 2, 0, Grad> {
  using base = region_call<1, 2, 0, Grad>;
  int ratio = base::integer(3);
  bool aligned = base::integer(4) != 0;

  LAMINA_INLINE LAMINA_FN region_side rows_of(int r) const {
    const float* const region = base::regions.row(r);
    return region_side_of(region[1], region[3], base::scale,
                          base::bins.divisor() / base::across.divisor(), ratio, aligned);
  }
  LAMINA_INLINE LAMINA_FN region_side columns_of(int r) const {
    const float* const region = base::regions.row(r);
    return region_side_of(region[0], region[2], base::scale, base::across.divisor(), ratio,
                          aligned);
  }
};

struct roi_align_kernel : aligned_call<> {
  int count = pooled().rows * pooled().columns;

  LAMINA_INLINE LAMINA_FN void run(int i) const {
    const channel_position to(columns, bins, i);
    const float* const plane = x.row(image_of(to.row)) + to.channel * image_height * image_width;
    int bin = to.inside;
    const int row = across.divide(bin);
    const region_side points = rows_of(to.row), points_across = columns_of(to.row);
    const float fraction = 1.0f / static_cast<float>(points.points * points_across.points);
    float sum = 0;
    LAMINA_CUDA_KEEP_LOOP
    for (int v = 0; v < points.points; ++v) {
      const neighbours v_at = neighbours_of(points.at(row, v), image_height);
      if (v_at.outside) continue;
      const float *const upper = plane + v_at.low * image_width, *const lower =
                                                                     plane +
                                                                     v_at.high * image_width;
      LAMINA_CUDA_KEEP_LOOP
      for (int h = 0; h < points_across.points; ++h) {
        const neighbours h_at = neighbours_of(points_across.at(bin, h), image_width);
        if (h_at.outside) continue;
        sum += fraction * between(between(upper[h_at.low], upper[h_at.high], h_at.fraction),
                                  between(lower[h_at.low], lower[h_at.high], h_at.fraction),
                                  v_at.fraction);
      }
    }
    y.row(to.row)[to.at] = sum;
  }
};

/// The weight of element `own` of an image side in the average over the sample points of one bin
/// along this side.
LAMINA_INLINE LAMINA_FN float aligned_weight(const region_side& s, int bin, int size, int own) {
  float weight = 0;
  LAMINA_CUDA_KEEP_LOOP
  for (int k = 0; k < s.points; ++k) {
    const neighbours n = neighbours_of(s.at(bin, k), size);
    if (n.outside) continue;
    weight += (n.low == own ? 1 - n.fraction : 0.0f) + (n.high == own ? n.fraction : 0.0f);
  }
  return weight;
}

/// Each image element adds up weighted gradients of all bins of the image's regions. The weight of
/// a point is the weight of its row times the weight of its column. A weight of 0 adds nothing,
/// even if a gradient is infinite or a region has no sample points.
struct roi_align_grad_kernel : aligned_call<2> {
  image_elements elements{images()};
  int count = elements.count;

  LAMINA_INLINE LAMINA_FN void run(int i) const {
    const auto to = elements[i];
    const int wide = across.divisor(), high = bins.divisor() / wide;
    float sum = 0;
    LAMINA_CUDA_KEEP_LOOP
    for (int r = all.begin(to.row); r < all.end(to.row); ++r) {
      const float* const grad = y.row(r) + to.channel * bins.divisor();
      const region_side points = rows_of(r), points_across = columns_of(r);
      const float fraction = 1.0f / static_cast<float>(points.points * points_across.points);
      LAMINA_CUDA_KEEP_LOOP
      for (int p = 0; p < high; ++p) {
        const float of_row = aligned_weight(points, p, image_height, to.y);
        if (of_row == 0) continue;
        LAMINA_CUDA_KEEP_LOOP
        for (int q = 0; q < wide; ++q)
          if (const float weight = aligned_weight(points_across, q, image_width, to.x); weight != 0)
            sum += of_row * fraction * weight * grad[p * wide + q];
      }
    }
    x.row(to.row)[to.at] = sum;
  }
};

/// Returns the number of channels of the images of psroi_pool: one per channel and bin of Out.
inline int scored_channels(const call_context& c, const operand& images) {
  const int wanted = c.integer(0) * c.integer(2) * c.integer(3);
  if (wanted != images.dims[1]) fail(c, {"expected ", wanted, " channels, found ", images.dims[1]});
  return wanted;
}
template <int Grad = -1>
struct scored_call : region_call<2, 3, 1, Grad> {
  int scores = scored_channels(*this->call, this->images());
};

/// The rows and columns of the image that belong to bin `bin` of region r, for psroi_pool.
struct scored_bin_ranges {
  image_range rows, columns;

  template <int Grad>
  LAMINA_INLINE LAMINA_FN scored_bin_ranges(const scored_call<Grad>& a, int r, int bin) {
    int column = bin;
    const int row = a.across.divide(column);
    const float* const region = a.regions.row(r);
    rows = scored_bin(region[1], region[3], a.scale, a.bins.divisor() / a.across.divisor(), row,
                      a.image_height);
    columns = scored_bin(region[0], region[2], a.scale, a.across.divisor(), column, a.image_width);
  }
  LAMINA_INLINE LAMINA_FN float fraction() const {
    return 1.0f / static_cast<float>((rows.end - rows.begin) * (columns.end - columns.begin));
  }
};

/// Computes element k of a region: the average over a bin of one channel.
struct psroi_pool_kernel : scored_call<> {
  int count = pooled().rows * pooled().columns;

  LAMINA_INLINE LAMINA_FN void run(int i) const {
    const channel_position to(columns, bins, i);
    const float* const plane = x.row(image_of(to.row)) + to.at * image_height * image_width;
    const scored_bin_ranges bin(*this, to.row, to.inside);
    const float fraction = bin.fraction();
    float sum = 0;
    for (int v = bin.rows.begin; v < bin.rows.end; ++v) {
      LAMINA_CUDA_KEEP_LOOP
      for (int h = bin.columns.begin; h < bin.columns.end; ++h)
        sum += fraction * plane[v * image_width + h];
    }
    y.row(to.row)[to.at] = sum;
  }
};
struct psroi_pool_grad_kernel : scored_call<2> {
  int lines = images().rows * channels, width = image_height * image_width;

  template <class Team>
  LAMINA_INLINE LAMINA_FN void line(int i, const Team& team) const {
    const int image = i / channels, channel = i % channels;
    float* const plane = x.row(image) + channel * image_height * image_width;
    LAMINA_CUDA_KEEP_LOOP
    for (int k = team.rank(); k < image_height * image_width; k += team.size()) plane[k] = 0;
    LAMINA_CUDA_KEEP_LOOP
    for (int r = all.begin(image); r < all.end(image); ++r) {
      const scored_bin_ranges bin(*this, r, channel % bins.divisor());
      const float grad = y.row(r)[channel] * bin.fraction();
      LAMINA_CUDA_KEEP_LOOP
      for (int k = team.rank(); k < image_height * image_width; k += team.size()) {
        const int v = k / image_width, h = k % image_width;
        if (v >= bin.rows.begin && v < bin.rows.end && h >= bin.columns.begin &&
            h < bin.columns.end)
          plane[k] += grad;
      }
    }
  }
};

}  // namespace detail

template <>
struct call_kernel<operators::roi_align> : elements_call<detail::roi_align_kernel> {};
template <>
struct call_kernel<gradient_of<operators::roi_align>>
    : elements_call<detail::roi_align_grad_kernel> {};
template <>
struct call_kernel<operators::psroi_pool> : elements_call<detail::psroi_pool_kernel> {};
template <>
struct call_kernel<gradient_of<operators::psroi_pool>>
    : lines_call<detail::psroi_pool_grad_kernel> {};

}}}  // namespace lamina::engine::cuda
