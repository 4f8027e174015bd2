// SPDX-License-Identifier: Apache-2.0
// lamina/operators/region/roi_pool/executor.hpp - maxima over the parts of regions.
#pragma once

#include <lamina/core/config.hpp>

#include <string>
#include <utility>

#include <lamina/core/numbers/extremes.hpp>
#include <lamina/executor/kernel_shape.hpp>
#include <lamina/executor/kernel_table.hpp>
#include <lamina/operators/region/definition.hpp>
#include <lamina/operators/region/roi_pool/definition.hpp>

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
                region_part(corner(1), corner(3), scale, static_cast<int>(out[2]),
                            static_cast<int>(i), static_cast<int>(shape[2]));
            const image_range columns =
                region_part(corner(0), corner(2), scale, static_cast<int>(out[3]),
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
                    parts = d.size() == 0 ? 1 : d.size() / (d.shape()[0] * shape[1]);
  for (std::size_t n = 0; n < shape[0]; ++n)
    for (std::size_t i = sequences.last()[n] * shape[1] * parts;
         i < sequences.last()[n + 1] * shape[1] * parts; ++i)
      if (position.flat(i) >= 0)
        dx.flat((n * shape[1] + i / parts % shape[1]) * plane +
                static_cast<std::size_t>(position.flat(i))) += d.flat(i);
  ctx.give("X@GRAD", std::move(dx));
}

template <class Real>
void add_roi_pool_kernels(kernel_table<Real>& table) {
  table["roi_pool"] = roi_pool_forward<Real>;
  table["roi_pool_grad"] = roi_pool_gradient<Real>;
}

}}}  // namespace lamina::kernel
