// SPDX-License-Identifier: Apache-2.0
// lamina/operators/region/roi_align/cuda.cuh - averages of parts of regions: roi_align, psroi_pool.
#pragma once

#include <lamina/core/config.hpp>

#include <lamina/operators/region/roi_align/definition.hpp>
#include <lamina/operators/region/roi_pool/cuda.cuh>
#include <lamina/operators/resize/cuda.cuh>

namespace lamina { inline namespace LAMINA_ABI { namespace engine::cuda {

namespace detail {

struct aligned_arguments : region_arguments {
  int ratio;
};

struct aligned_body {
  using arguments = aligned_arguments;
  static LAMINA_INLINE LAMINA_FN void run(const arguments& a, int i) {
    const channel_position to(a.columns, a.parts, i);
    const float* const plane = a.x.row(a.image_of(to.row)) + to.channel * a.down * a.over;
    int across = to.inside;
    const int down = a.across.divide(across);
    const float* const region = a.regions.row(to.row);
    const region_side rows = region_side_of(region[1], region[3], a.scale,
                                            a.parts.divisor() / a.across.divisor(), a.ratio);
    const region_side columns =
        region_side_of(region[0], region[2], a.scale, a.across.divisor(), a.ratio);
    const float share = 1.0f / static_cast<float>(rows.points * columns.points);
    float sum = 0;
    LAMINA_CUDA_KEEP_LOOP
    for (int v = 0; v < rows.points; ++v) {
      const neighbours y = neighbours_of(rows.at(down, v), a.down);
      if (y.outside) continue;
      const float *const upper = plane + y.low * a.over, *const lower = plane + y.high * a.over;
      LAMINA_CUDA_KEEP_LOOP
      for (int h = 0; h < columns.points; ++h) {
        const neighbours x = neighbours_of(columns.at(across, h), a.over);
        if (x.outside) continue;
        sum += share * between(between(upper[x.low], upper[x.high], x.part),
                               between(lower[x.low], lower[x.high], x.part), y.part);
      }
    }
    a.y.row(to.row)[to.at] = sum;
  }
};

/// The weight of element `own` of an image side in the average over the sample points of one part
/// along this side.
LAMINA_INLINE LAMINA_FN float aligned_weight(const region_side& s, int part, int size, int own) {
  float weight = 0;
  LAMINA_CUDA_KEEP_LOOP
  for (int k = 0; k < s.points; ++k) {
    const neighbours n = neighbours_of(s.at(part, k), size);
    if (n.outside) continue;
    weight += (n.low == own ? 1 - n.part : 0.0f) + (n.high == own ? n.part : 0.0f);
  }
  return weight;
}

/// Each image element adds up weighted gradients of all parts of the image's regions. The weight of
/// a point is the weight of its row times the weight of its column. A weight of 0 adds nothing,
/// even if a gradient is infinite or a region has no sample points.
struct aligned_grad_body {
  struct arguments : aligned_arguments {
    divider x_columns, x_size, x_width;
  };
  static LAMINA_INLINE LAMINA_FN void run(const arguments& a, int i) {
    const channel_position to(a.x_columns, a.x_size, i);
    int column = to.inside;
    const int row = a.x_width.divide(column), across = a.across.divisor();
    const int down = a.parts.divisor() / across;
    float sum = 0;
    LAMINA_CUDA_KEEP_LOOP
    for (int r = a.all.begin(to.row); r < a.all.end(to.row); ++r) {
      const float* const region = a.regions.row(r);
      const float* const grad = a.y.row(r) + to.channel * a.parts.divisor();
      const region_side rows = region_side_of(region[1], region[3], a.scale, down, a.ratio);
      const region_side columns = region_side_of(region[0], region[2], a.scale, across, a.ratio);
      const float share = 1.0f / static_cast<float>(rows.points * columns.points);
      LAMINA_CUDA_KEEP_LOOP
      for (int p = 0; p < down; ++p) {
        const float of_row = aligned_weight(rows, p, a.down, row);
        if (of_row == 0) continue;
        LAMINA_CUDA_KEEP_LOOP
        for (int q = 0; q < across; ++q)
          if (const float weight = aligned_weight(columns, q, a.over, column); weight != 0)
            sum += of_row * share * weight * grad[p * across + q];
      }
    }
    a.x.row(to.row)[to.at] = sum;
  }
};

/// The rows and columns of the image that belong to part `part` of region r, for psroi_pool.
struct scored_part_ranges {
  image_range rows, columns;

  LAMINA_INLINE LAMINA_FN scored_part_ranges(const region_arguments& a, int r, int part) {
    int across = part;
    const int down = a.across.divide(across);
    const float* const region = a.regions.row(r);
    rows = scored_part(region[1], region[3], a.scale, a.parts.divisor() / a.across.divisor(), down,
                       a.down);
    columns = scored_part(region[0], region[2], a.scale, a.across.divisor(), across, a.over);
  }
  LAMINA_INLINE LAMINA_FN float share() const {
    return 1.0f / static_cast<float>((rows.end - rows.begin) * (columns.end - columns.begin));
  }
};

/// Computes element k of a region: the average over a part of one channel.
struct scored_body {
  using arguments = region_arguments;
  static LAMINA_INLINE LAMINA_FN void run(const arguments& a, int i) {
    const channel_position to(a.columns, a.parts, i);
    const float* const plane = a.x.row(a.image_of(to.row)) + to.at * a.down * a.over;
    const scored_part_ranges part(a, to.row, to.inside);
    const float share = part.share();
    float sum = 0;
    for (int v = part.rows.begin; v < part.rows.end; ++v) {
      LAMINA_CUDA_KEEP_LOOP
      for (int h = part.columns.begin; h < part.columns.end; ++h)
        sum += share * plane[v * a.over + h];
    }
    a.y.row(to.row)[to.at] = sum;
  }
};
struct scored_grad_lines {
  using arguments = region_arguments;
  template <class Team>
  static LAMINA_INLINE LAMINA_FN void line(const arguments& a, int i, const Team& team) {
    const int image = i / a.channels, channel = i % a.channels;
    float* const plane = a.x.row(image) + channel * a.down * a.over;
    LAMINA_CUDA_KEEP_LOOP
    for (int k = team.rank(); k < a.down * a.over; k += team.size()) plane[k] = 0;
    LAMINA_CUDA_KEEP_LOOP
    for (int r = a.all.begin(image); r < a.all.end(image); ++r) {
      const scored_part_ranges part(a, r, channel % a.parts.divisor());
      const float grad = a.y.row(r)[channel] * part.share();
      LAMINA_CUDA_KEEP_LOOP
      for (int k = team.rank(); k < a.down * a.over; k += team.size()) {
        const int v = k / a.over, h = k % a.over;
        if (v >= part.rows.begin && v < part.rows.end && h >= part.columns.begin &&
            h < part.columns.end)
          plane[k] += grad;
      }
    }
  }
};

inline aligned_arguments aligned_of(const call_context& c, const operand& x, const operand& y) {
  aligned_arguments a{};
  static_cast<region_arguments&>(a) =
      regions_of(c, x, y, c.integer(1), c.integer(2), static_cast<float>(c.number(0)));
  a.ratio = c.integer(3);
  return a;
}
inline region_arguments scored_of(const call_context& c, const operand& x, const operand& y) {
  const int wanted = c.integer(0) * c.integer(2) * c.integer(3);
  if (wanted != x.dims[1]) fail(c, {"expected ", wanted, " channels, found ", x.dims[1]});
  return regions_of(c, x, y, c.integer(2), c.integer(3), static_cast<float>(c.number(1)));
}

}  // namespace detail

template <>
struct call_kernel<operators::roi_align> {
  static constexpr bool launches = true;
  template <class Backend>
  static void launch(Backend& b, const call_context& c) {
    require_float(c, c.input(0));
    b.template elements<detail::aligned_body>(detail::aligned_of(c, c.input(0), c.output(0)));
  }
};
template <>
struct call_kernel<gradient_of<operators::roi_align>> {
  static constexpr bool launches = true;
  template <class Backend>
  static void launch(Backend& b, const call_context& c) {
    const operand dx = c.output(0);
    if (!dx) return;
    detail::aligned_grad_body::arguments a{};
    static_cast<detail::aligned_arguments&>(a) = detail::aligned_of(c, dx, c.input(2));
    a.x_columns = divider(dx.columns);
    a.x_size = divider(a.down * a.over);
    a.x_width = divider(a.over);
    a.count = dx.rows * dx.columns;
    b.template elements<detail::aligned_grad_body>(a);
  }
};
template <>
struct call_kernel<operators::psroi_pool> {
  static constexpr bool launches = true;
  template <class Backend>
  static void launch(Backend& b, const call_context& c) {
    require_float(c, c.input(0));
    b.template elements<detail::scored_body>(detail::scored_of(c, c.input(0), c.output(0)));
  }
};
template <>
struct call_kernel<gradient_of<operators::psroi_pool>> {
  static constexpr bool launches = true;
  template <class Backend>
  static void launch(Backend& b, const call_context& c) {
    const operand dx = c.output(0);
    if (!dx) return;
    auto a = detail::scored_of(c, dx, c.input(2));
    a.lines = dx.rows * a.channels;
    a.width = a.down * a.over;
    if (a.lines > 0) b.template lines<team_lines<detail::scored_grad_lines>>(a);
  }
};

}}}  // namespace lamina::engine::cuda
