// SPDX-License-Identifier: Apache-2.0
// lamina/operators/region/roi/executor.hpp - maxima (roi_pool) and averages (roi_align, psroi_pool)
// over the bins of regions of images.
#pragma once

#include <lamina/core/config.hpp>

#include <array>
#include <string>
#include <utility>

#include <lamina/core/numbers/extremes.hpp>
#include <lamina/executor/call_context.hpp>
#include <lamina/executor/kernel_shape.hpp>
#include <lamina/operators/region/definition.hpp>
#include <lamina/operators/region/roi/definition.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace kernel {

template <class Real>
void roi_pool_forward(call_context<Real>& ctx) {
  const auto& x = ctx.real("X");
  const auto& regions = ctx.real("ROIs");
  const lod& sequences = ctx.lod("ROIs");
  const tensor_shape shape = shape_of(x), out = ctx.output_shape("Out");
  if (sequences.sequences() != shape[0])
    ctx.fail("expected regions of " + std::to_string(shape[0]) + " images, found " +
             std::to_string(sequences.sequences()));
  const std::size_t count = regions.size() / 4;
  const std::size_t plane = shape[2] * shape[3];
  auto y = zeros<Real>({count, out[1], out[2], out[3]});
  auto position = zeros<std::int64_t>({count, out[1], out[2], out[3]});
  const float scale = static_cast<float>(ctx.attribute("spatial_scale", 1));
  std::size_t at = 0;
  for (std::size_t n = 0; n < shape[0]; ++n)
    for (std::size_t r = sequences.last()[n]; r < sequences.last()[n + 1]; ++r) {
      const auto corner = [&](std::size_t i) {
        return static_cast<float>(regions.flat(4 * r + i));
      };
      for (std::size_t c = 0; c < shape[1]; ++c)
        for (std::size_t i = 0; i < out[2]; ++i)
          for (std::size_t j = 0; j < out[3]; ++j, ++at) {
            const image_range rows =
                region_bin(corner(1), corner(3), scale, static_cast<int>(out[2]),
                           static_cast<int>(i), static_cast<int>(shape[2]));
            const image_range columns =
                region_bin(corner(0), corner(2), scale, static_cast<int>(out[3]),
                           static_cast<int>(j), static_cast<int>(shape[3]));
            position.flat(at) = -1;
            for (int v = rows.begin; v < rows.end; ++v)
              for (int h = columns.begin; h < columns.end; ++h) {
                const std::size_t in_plane =
                    static_cast<std::size_t>(v) * shape[3] + static_cast<std::size_t>(h);
                const Real value = x.flat((n * shape[1] + c) * plane + in_plane);
                if (position.flat(at) >= 0 && !math::is_above(value, y.flat(at))) continue;
                y.flat(at) = value;
                position.flat(at) = static_cast<std::int64_t>(in_plane);
              }
          }
    }
  ctx.give("Out", std::move(y));
  ctx.give("Argmax", std::move(position));
}
template <class Real>
void roi_pool_gradient(call_context<Real>& ctx) {
  const auto& d = ctx.real("Out@GRAD");
  const auto position = ctx.integers("Argmax");
  const lod& sequences = ctx.lod("ROIs");
  auto dx = zeros<Real>(shape_of(ctx.real("X")));
  const tensor_shape shape = shape_of(dx);
  const std::size_t plane = shape[2] * shape[3],
                    bins = d.size() == 0 ? 1 : d.size() / (d.shape()[0] * shape[1]);
  for (std::size_t n = 0; n < shape[0]; ++n)
    for (std::size_t i = sequences.last()[n] * shape[1] * bins;
         i < sequences.last()[n + 1] * shape[1] * bins; ++i)
      if (position.flat(i) >= 0)
        dx.flat((n * shape[1] + i / bins % shape[1]) * plane +
                static_cast<std::size_t>(position.flat(i))) += d.flat(i);
  ctx.give("X@GRAD", std::move(dx));
}

template <class Real>
void add_roi_pool_kernels(kernel_table<Real>& table) {
  table["roi_pool"] = roi_pool_forward<Real>;
  table["roi_pool_grad"] = roi_pool_gradient<Real>;
}

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
  const bool aligned = ctx.flag("aligned");
  const float scale = static_cast<float>(ctx.attribute("spatial_scale", 1));
  const std::size_t bins = static_cast<std::size_t>(height * width), w = shape[3];
  for_each_region(
      ctx, shape[0], shape[1] * bins, [&](std::size_t n, const auto& corner, std::size_t first) {
        const region_side rows =
            region_side_of(corner[1], corner[3], scale, height, ratio, aligned);
        const region_side columns =
            region_side_of(corner[0], corner[2], scale, width, ratio, aligned);
        for (std::size_t c = 0; c < shape[1]; ++c)
          for (int i = 0; i < height; ++i)
            for (int j = 0; j < width; ++j)
              for (int p = 0; p < rows.points; ++p)
                for (int q = 0; q < columns.points; ++q) {
                  const neighbours y = neighbours_of(rows.at(i, p), static_cast<int>(shape[2]));
                  const neighbours x = neighbours_of(columns.at(j, q), static_cast<int>(w));
                  if (y.outside || x.outside) continue;
                  const std::size_t to = first + c * bins + static_cast<std::size_t>(i * width + j);
                  for (const auto& [row, of_row] :
                       {std::pair{y.low, 1 - y.fraction}, std::pair{y.high, y.fraction}})
                    for (const auto& [column, of_column] :
                         {std::pair{x.low, 1 - x.fraction}, std::pair{x.high, x.fraction}})
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
  const std::size_t bins = static_cast<std::size_t>(height * width);
  if (static_cast<std::size_t>(ctx.integer("output_channels")) * bins != shape[1])
    ctx.fail("expected " + std::to_string(ctx.integer("output_channels")) + " times " +
             std::to_string(bins) + " channels, found " + std::to_string(shape[1]));
  for_each_region(
      ctx, shape[0], shape[1], [&](std::size_t n, const auto& corner, std::size_t first) {
        for (std::size_t c = 0; c < shape[1]; ++c) {
          const int i = static_cast<int>(c % bins) / width, j = static_cast<int>(c % bins) % width;
          const image_range rows =
              scored_bin(corner[1], corner[3], scale, height, i, static_cast<int>(shape[2]));
          const image_range columns =
              scored_bin(corner[0], corner[2], scale, width, j, static_cast<int>(shape[3]));
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
