// SPDX-License-Identifier: Apache-2.0
// lamina/operators/pool/pool2d/executor.hpp - the operator pool2d, which pools the windows of
// images.
#pragma once

#include <lamina/core/config.hpp>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include <lamina/core/numbers/extremes.hpp>
#include <lamina/executor/call_context.hpp>
#include <lamina/executor/kernel_shape.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace kernel {

/// The windows of a pool2d in all channels, one channel after the other.
struct pool_windows {
  bool is_average, exclusive, adaptive;
  int in[2], out[2], size[2], stride[2] = {1, 1}, padding[2] = {0, 0};
  std::size_t channels;  // channels of all samples

  template <class Real>
  pool_windows(const call_context<Real>& ctx, const tensor_shape& from, const tensor_shape& to)
      : exclusive(ctx.attribute("exclusive", 1) != 0),
        adaptive(ctx.flag("adaptive")),
        channels(from[0] * from[1]) {
    const std::string type = ctx.text("pooling_type");
    if (type != "max" && type != "avg")
      ctx.fail("expected a pooling_type 'max' or 'avg', found '" + type + "'");
    is_average = type == "avg";
    const auto sizes = ctx.integer_list("ksize"), strides = ctx.integer_list("strides"),
               paddings = ctx.integer_list("paddings");
    for (std::size_t d = 0; d < 2; ++d) {
      in[d] = static_cast<int>(from[2 + d]);
      out[d] = static_cast<int>(to[2 + d]);
      const bool whole = ctx.flag("global_pooling");
      if (!whole && sizes.size() != 2) ctx.fail("expected a ksize of 2 numbers");
      size[d] = whole ? in[d] : sizes[d];
      if (!whole && strides.size() == 2) stride[d] = strides[d];
      if (!whole && paddings.size() == 2) padding[d] = paddings[d];
    }
  }

  /// Returns the range [first, second) of rows (d = 0) or columns (d = 1) that window i contains.
  std::pair<int, int> along(int d, int i) const {
    if (adaptive) return {i * in[d] / out[d], ((i + 1) * in[d] + out[d] - 1) / out[d]};
    const int first = i * stride[d] - padding[d];
    return {(std::max)(first, 0), (std::min)(first + size[d], in[d])};
  }

  /// Calls f(index of the window, positions of its elements, 1 / the divisor of an average) for
  /// each window.
  template <class F>
  void for_each_window(F f) const {
    std::vector<std::size_t> held;
    std::size_t window = 0;
    for (std::size_t c = 0; c < channels; ++c)
      for (int y = 0; y < out[0]; ++y)
        for (int x = 0; x < out[1]; ++x, ++window) {
          const auto [top, bottom] = along(0, y);
          const auto [left, right] = along(1, x);
          held.clear();
          for (int i = top; i < bottom; ++i)
            for (int j = left; j < right; ++j)
              held.push_back((c * static_cast<std::size_t>(in[0]) + static_cast<std::size_t>(i)) *
                                 static_cast<std::size_t>(in[1]) +
                             static_cast<std::size_t>(j));
          f(window, held, weight(static_cast<int>(held.size())));
        }
  }

  /// Returns 1 / the divisor of the average of a window that contains `held` elements.
  double weight(int held) const { return 1.0 / (exclusive || adaptive ? held : size[0] * size[1]); }
};

template <class Real>
void pool_forward(call_context<Real>& ctx) {
  const auto& x = ctx.real("X");
  const std::vector<int> size = ctx.integer_list("ksize");
  auto y = zeros<Real>(windows_shape(ctx, "Out", shape_of(x), shape_of(x)[1], size));
  const pool_windows windows(ctx, shape_of(x), shape_of(y));
  const Real* from = x.data();
  Real* to = y.data();
  for (std::size_t c = 0; c < windows.channels; ++c, from += windows.in[0] * windows.in[1])
    for (int i = 0; i < windows.out[0]; ++i)
      for (int j = 0; j < windows.out[1]; ++j) {
        const auto [top, bottom] = windows.along(0, i);
        const auto [left, right] = windows.along(1, j);
        if (top >= bottom || left >= right)
          ctx.fail("expected windows that hold a part of the image, found an empty one");
        Real value = windows.is_average ? Real(0) : from[top * windows.in[1] + left];
        for (int r = top; r < bottom; ++r)
          for (int k = left; k < right; ++k) {
            const Real one = from[r * windows.in[1] + k];
            value = windows.is_average ? value + one : math::maximum(value, one);
          }
        if (windows.is_average)
          value *= static_cast<Real>(windows.weight((bottom - top) * (right - left)));
        *to++ = value;
      }
  ctx.give("Out", std::move(y));
}

/// For an average, the gradient of a window is divided among its elements. For a maximum, the first
/// position of the largest element gets the whole gradient.
template <class Real>
void pool_gradient(call_context<Real>& ctx) {
  const auto& x = ctx.real("X");
  const auto& y = ctx.real("Out");
  const auto& d = ctx.real("Out@GRAD");
  auto dx = zeros<Real>(shape_of(x));
  const pool_windows windows(ctx, shape_of(x), shape_of(y));
  windows.for_each_window([&](std::size_t at, const std::vector<std::size_t>& held, double weight) {
    for (const std::size_t i : held) {
      if (windows.is_average) {
        dx.flat(i) += d.flat(at) * static_cast<Real>(weight);
      } else if (math::is_same(x.flat(i), y.flat(at))) {
        dx.flat(i) += d.flat(at);
        break;
      }
    }
  });
  ctx.give("X@GRAD", std::move(dx));
}

template <class Real>
void add_pool_kernels(kernel_table<Real>& table) {
  table["pool2d"] = pool_forward<Real>;
  table["pool2d_grad"] = pool_gradient<Real>;
}

}}}  // namespace lamina::kernel
