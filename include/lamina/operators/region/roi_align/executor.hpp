// SPDX-License-Identifier: Apache-2.0
// lamina/operators/region/roi_align/executor.hpp - averages of parts of regions: roi_align,
// psroi_pool.
#pragma once

#include <lamina/core/config.hpp>

#include <array>
#include <string>
#include <utility>

#include <lamina/executor/kernel_shape.hpp>
#include <lamina/executor/kernel_table.hpp>
#include <lamina/operators/region/definition.hpp>
#include <lamina/operators/region/roi_align/definition.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace kernel {

/// Calls f(image, corners, position of the first element in Out) for each region.
template <class Real, class F>
void for_each_region(const call_context<Real>& ctx, std::size_t images, std::size_t outputs, F f) {
  const auto& regions = ctx.real("ROIs");
  const lod& sequences = ctx.lod("ROIs");
  if (sequences.sequences() != images)
    ctx.fail("expected regions of " + std::to_string(images) + " images, found " +
             std::to_string(sequences.sequences()));
  for (std::size_t n = 0; n < images; ++n)
    for (std::size_t r = sequences.last()[n]; r < sequences.last()[n + 1]; ++r) {
      std::array<float, 4> corner{};
      for (std::size_t i = 0; i < 4; ++i) corner[i] = static_cast<float>(regions.flat(4 * r + i));
      f(n, corner, r * outputs);
    }
}

/// Calls f(position in Out, position in X, weight) for each image element that contributes to an
/// element of Out of roi_align.
template <class Real, class F>
void for_each_aligned(const call_context<Real>& ctx, const tensor_shape& shape, F f) {
  const int height = ctx.integer("pooled_height", 1), width = ctx.integer("pooled_width", 1);
  const int ratio = ctx.integer("sampling_ratio", -1);
  const float scale = static_cast<float>(ctx.attribute("spatial_scale", 1));
  const std::size_t parts = static_cast<std::size_t>(height * width), w = shape[3];
  for_each_region(
      ctx, shape[0], shape[1] * parts, [&](std::size_t n, const auto& corner, std::size_t first) {
        const region_side rows = region_side_of(corner[1], corner[3], scale, height, ratio);
        const region_side columns = region_side_of(corner[0], corner[2], scale, width, ratio);
        for (std::size_t c = 0; c < shape[1]; ++c)
          for (int i = 0; i < height; ++i)
            for (int j = 0; j < width; ++j)
              for (int p = 0; p < rows.points; ++p)
                for (int q = 0; q < columns.points; ++q) {
                  const neighbours y = neighbours_of(rows.at(i, p), static_cast<int>(shape[2]));
                  const neighbours x = neighbours_of(columns.at(j, q), static_cast<int>(w));
                  if (y.outside || x.outside) continue;
                  const std::size_t to =
                      first + c * parts + static_cast<std::size_t>(i * width + j);
                  for (const auto& [row, of_row] :
                       {std::pair{y.low, 1 - y.part}, std::pair{y.high, y.part}})
                    for (const auto& [column, of_column] :
                         {std::pair{x.low, 1 - x.part}, std::pair{x.high, x.part}})
                      if (of_row != 0 && of_column != 0)
                        f(to,
                          ((n * shape[1] + c) * shape[2] + static_cast<std::size_t>(row)) * w +
                              static_cast<std::size_t>(column),
                          static_cast<Real>(of_row) * static_cast<Real>(of_column) /
                              static_cast<Real>(rows.points * columns.points));
                }
      });
}

/// Calls f(position in Out, position in X, weight) for each image element that contributes to an
/// element of Out of psroi_pool.
template <class Real, class F>
void for_each_scored(const call_context<Real>& ctx, const tensor_shape& shape, F f) {
  const int height = ctx.integer("pooled_height", 1), width = ctx.integer("pooled_width", 1);
  const float scale = static_cast<float>(ctx.attribute("spatial_scale", 1));
  const std::size_t parts = static_cast<std::size_t>(height * width);
  if (static_cast<std::size_t>(ctx.integer("output_channels")) * parts != shape[1])
    ctx.fail("expected " + std::to_string(ctx.integer("output_channels")) + " times " +
             std::to_string(parts) + " channels, found " + std::to_string(shape[1]));
  for_each_region(
      ctx, shape[0], shape[1], [&](std::size_t n, const auto& corner, std::size_t first) {
        for (std::size_t c = 0; c < shape[1]; ++c) {
          const int i = static_cast<int>(c % parts) / width,
                    j = static_cast<int>(c % parts) % width;
          const image_range rows =
              scored_part(corner[1], corner[3], scale, height, i, static_cast<int>(shape[2]));
          const image_range columns =
              scored_part(corner[0], corner[2], scale, width, j, static_cast<int>(shape[3]));
          const int count = (rows.end - rows.begin) * (columns.end - columns.begin);
          for (int v = rows.begin; v < rows.end; ++v)
            for (int u = columns.begin; u < columns.end; ++u)
              f(first + c,
                ((n * shape[1] + c) * shape[2] + static_cast<std::size_t>(v)) * shape[3] +
                    static_cast<std::size_t>(u),
                Real(1) / static_cast<Real>(count));
        }
      });
}

template <class Real, class ForEach>
void sum_regions(call_context<Real>& ctx, ForEach for_each) {
  const auto& x = ctx.real("X");
  auto out = zeros<Real>(ctx.output_shape("Out"));
  for_each(ctx, shape_of(x), [&](std::size_t to, std::size_t from, Real weight) {
    out.flat(to) += weight * x.flat(from);
  });
  ctx.give("Out", std::move(out));
}
template <class Real, class ForEach>
void spread_regions(call_context<Real>& ctx, ForEach for_each) {
  const auto& d = ctx.real("Out@GRAD");
  auto dx = zeros<Real>(ctx.input("X").shape());
  for_each(ctx, shape_of(dx), [&](std::size_t from, std::size_t to, Real weight) {
    dx.flat(to) += weight * d.flat(from);
  });
  ctx.give("X@GRAD", std::move(dx));
}

template <class Real>
void add_roi_align_kernels(kernel_table<Real>& table) {
  using context = call_context<Real>;
  table["roi_align"] = [](context& ctx) {
    sum_regions(ctx, [](const auto&... a) { for_each_aligned(a...); });
  };
  table["roi_align_grad"] = [](context& ctx) {
    spread_regions(ctx, [](const auto&... a) { for_each_aligned(a...); });
  };
  table["psroi_pool"] = [](context& ctx) {
    sum_regions(ctx, [](const auto&... a) { for_each_scored(a...); });
  };
  table["psroi_pool_grad"] = [](context& ctx) {
    spread_regions(ctx, [](const auto&... a) { for_each_scored(a...); });
  };
}

}}}  // namespace lamina::kernel
