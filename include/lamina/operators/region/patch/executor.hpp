// SPDX-License-Identifier: Apache-2.0
// lamina/operators/region/patch/executor.hpp - operators on windows of images: spp, im2sequence.
#pragma once

#include <lamina/core/config.hpp>

#include <string>
#include <utility>
#include <vector>

#include <lamina/core/numbers/extremes.hpp>
#include <lamina/executor/call_context.hpp>
#include <lamina/executor/kernel_shape.hpp>
#include <lamina/operators/region/definition.hpp>
#include <lamina/operators/region/patch/definition.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace kernel {

/// Calls f(position in Out, positions in X, whether the pooling averages) for each window of each
/// pyramid level.
template <class Real, class F>
void for_each_pyramid_window(const call_context<Real>& ctx, const tensor_shape& shape, F f) {
  const int levels = ctx.integer("pyramid_height", 1);
  const std::string type = ctx.text("pooling_type");
  if (levels < 1 || (type != "max" && type != "avg"))
    ctx.fail("expected a positive pyramid_height and a pooling_type 'max' or 'avg', found " +
             std::to_string(levels) + " and '" + type + "'");
  std::vector<std::size_t> held;
  std::size_t at = 0;
  for (std::size_t n = 0; n < shape[0]; ++n)
    for (int level = 0; level < levels; ++level)
      for (std::size_t c = 0; c < shape[1]; ++c)
        for (int i = 0; i < 1 << level; ++i)
          for (int j = 0; j < 1 << level; ++j, ++at) {
            const image_range rows = pyramid_window(i, 1 << level, static_cast<int>(shape[2]));
            const image_range columns = pyramid_window(j, 1 << level, static_cast<int>(shape[3]));
            held.clear();
            for (int v = rows.begin; v < rows.end; ++v)
              for (int h = columns.begin; h < columns.end; ++h)
                held.push_back(((n * shape[1] + c) * shape[2] + static_cast<std::size_t>(v)) *
                                   shape[3] +
                               static_cast<std::size_t>(h));
            if (held.empty())
              ctx.fail("expected windows that hold a part of the image, found an empty one");
            f(at, held, type == "avg");
          }
}

template <class Real>
void spp_forward(call_context<Real>& ctx) {
  const auto& x = ctx.real("X");
  auto y = zeros<Real>(ctx.output_shape("Out"));
  for_each_pyramid_window(ctx, shape_of(x),
                          [&](std::size_t at, const std::vector<std::size_t>& held, bool average) {
                            Real value = average ? Real(0) : x.flat(held.front());
                            for (const std::size_t i : held)
                              value = average ? value + x.flat(i) : math::maximum(value, x.flat(i));
                            y.flat(at) = average ? value / static_cast<Real>(held.size()) : value;
                          });
  ctx.give("Out", std::move(y));
}
template <class Real>
void spp_gradient(call_context<Real>& ctx) {
  const auto& x = ctx.real("X");
  const auto& y = ctx.real("Out");
  const auto& d = ctx.real("Out@GRAD");
  auto dx = zeros<Real>(shape_of(x));
  for_each_pyramid_window(ctx, shape_of(x),
                          [&](std::size_t at, const std::vector<std::size_t>& held, bool average) {
                            for (const std::size_t i : held) {
                              if (average) {
                                dx.flat(i) += d.flat(at) / static_cast<Real>(held.size());
                              } else if (math::is_same(x.flat(i), y.flat(at))) {
                                dx.flat(i) += d.flat(at);
                                break;
                              }
                            }
                          });
  ctx.give("X@GRAD", std::move(dx));
}

/// The windows of an im2sequence.
struct patch_grid {
  std::vector<int> size, stride, padding;  // padding: above, left, below, right
  tensor_shape shape;
  int rows, columns;

  template <class Real>
  patch_grid(const call_context<Real>& ctx, const tensor_shape& image)
      : size(ctx.integer_list("kernels")),
        stride(ctx.integer_list("strides")),
        padding(ctx.integer_list("paddings")),
        shape(image) {
    if (size.size() != 2 || stride.size() != 2 || padding.size() != 4)
      ctx.fail("expected 2 kernels, 2 strides and 4 paddings, found " +
               std::to_string(size.size()) + ", " + std::to_string(stride.size()) + " and " +
               std::to_string(padding.size()));
    rows = (static_cast<int>(shape[2]) + padding[0] + padding[2] - size[0]) / stride[0] + 1;
    columns = (static_cast<int>(shape[3]) + padding[1] + padding[3] - size[1]) / stride[1] + 1;
  }
  std::size_t windows() const { return static_cast<std::size_t>(rows * columns); }
  std::size_t elements() const { return shape[1] * static_cast<std::size_t>(size[0] * size[1]); }

  /// Calls f(position in Out, position in X) for all elements that are not padding.
  template <class F>
  void for_each(F f) const {
    std::size_t at = 0;
    for (std::size_t n = 0; n < shape[0]; ++n)
      for (int y = 0; y < rows; ++y)
        for (int x = 0; x < columns; ++x)
          for (std::size_t c = 0; c < shape[1]; ++c)
            for (int i = 0; i < size[0]; ++i)
              for (int j = 0; j < size[1]; ++j, ++at) {
                const int v = y * stride[0] - padding[0] + i, h = x * stride[1] - padding[1] + j;
                if (v < 0 || v >= static_cast<int>(shape[2]) || h < 0 ||
                    h >= static_cast<int>(shape[3]))
                  continue;
                f(at, ((n * shape[1] + c) * shape[2] + static_cast<std::size_t>(v)) * shape[3] +
                          static_cast<std::size_t>(h));
              }
  }
};

template <class Real>
void im2sequence_forward(call_context<Real>& ctx) {
  const auto& x = ctx.real("X");
  const patch_grid grid(ctx, shape_of(x));
  auto y = zeros<Real>({grid.shape[0] * grid.windows(), grid.elements()});
  grid.for_each([&](std::size_t to, std::size_t from) { y.flat(to) = x.flat(from); });
  const lod sequences = ctx.lod("X").below(lod::level(grid.shape[0], grid.windows()));
  ctx.give("Out", std::move(y));
  ctx.set_lod("Out", sequences);
}
template <class Real>
void im2sequence_gradient(call_context<Real>& ctx) {
  const auto& d = ctx.real("Out@GRAD");
  auto dx = zeros<Real>(shape_of(ctx.real("X")));
  patch_grid(ctx, shape_of(dx)).for_each([&](std::size_t to, std::size_t from) {
    dx.flat(from) += d.flat(to);
  });
  ctx.give("X@GRAD", std::move(dx));
}

template <class Real>
void add_patch_kernels(kernel_table<Real>& table) {
  table["spp"] = spp_forward<Real>;
  table["spp_grad"] = spp_gradient<Real>;
  table["im2sequence"] = im2sequence_forward<Real>;
  table["im2sequence_grad"] = im2sequence_gradient<Real>;
}

}}}  // namespace lamina::kernel
