// SPDX-License-Identifier: Apache-2.0
// lamina/operators/pool/pool3d/executor.hpp - pool3d, max_pool2d_with_index and unpool, pooling
// operators that networks rarely use.
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

/// Calls f(index of the window, positions of its elements) for each window of each channel of an
/// array [N, C, ...] with any number of further dimensions. `to` is the shape of the result.
template <class Real, class F>
void for_each_volume_window(const call_context<Real>& ctx, const tensor_shape& from,
                            const tensor_shape& to, F f) {
  const auto size = ctx.integer_list("ksize"), stride = ctx.integer_list("strides"),
             padding = ctx.integer_list("paddings");
  const bool whole = ctx.flag("global_pooling"), adaptive = ctx.flag("adaptive");
  const std::size_t sides = from.size() - 2;
  if (!whole && size.size() != sides)
    ctx.fail("expected a ksize of " + std::to_string(sides) + " numbers, found " +
             std::to_string(size.size()));
  // Returns the range [first, end) of window i along dimension d.
  const auto along = [&](std::size_t d, int i) -> std::pair<int, int> {
    const int in = static_cast<int>(from[2 + d]), out = static_cast<int>(to[2 + d]);
    if (whole) return {0, in};
    if (adaptive) return {i * in / out, ((i + 1) * in + out - 1) / out};
    const int first = i * (stride.empty() ? 1 : stride[d]) - (padding.empty() ? 0 : padding[d]);
    return {(std::max)(first, 0), (std::min)(first + size[d], in)};
  };
  const matrix in(from, 2), out(to, 2);
  const tensor_shape inner(to.begin() + 2, to.end());
  std::vector<std::size_t> held, next;
  for (std::size_t c = 0; c < out.rows; ++c)
    for (std::size_t w = 0; w < out.columns; ++w) {
      held.assign(1, c);
      std::size_t rest = w, below = out.columns;
      for (std::size_t d = 0; d < sides; ++d) {
        below /= inner[d];
        const auto [first, last] = along(d, static_cast<int>(rest / below));
        rest %= below;
        next.clear();
        for (const std::size_t position : held)
          for (int i = first; i < last; ++i)
            next.push_back(position * from[2 + d] + static_cast<std::size_t>(i));
        held.swap(next);
      }
      if (held.empty())
        ctx.fail("expected windows that hold a part of the input, found an empty one");
      f(c * out.columns + w, held);
    }
}

/// Returns the divisor of the average of a window with `held` elements.
template <class Real>
Real volume_pool_count(const call_context<Real>& ctx, std::size_t held) {
  if (ctx.attribute("exclusive", 1) != 0 || ctx.flag("adaptive") || ctx.flag("global_pooling"))
    return static_cast<Real>(held);
  Real count = 1;
  for (const int n : ctx.integer_list("ksize")) count *= static_cast<Real>(n);
  return count;
}
template <class Real>
bool is_average_pool(const call_context<Real>& ctx) {
  const std::string type = ctx.text("pooling_type");
  if (type != "max" && type != "avg")
    ctx.fail("expected a pooling_type 'max' or 'avg', found '" + type + "'");
  return type == "avg";
}
/// Returns the position of the largest element among some positions; among equal elements, the
/// first.
template <class Real>
std::size_t largest_of(const xt::xarray<Real>& x, const std::vector<std::size_t>& positions) {
  return *std::max_element(positions.begin(), positions.end(), [&](std::size_t a, std::size_t b) {
    return math::is_above(x.flat(b), x.flat(a));
  });
}

template <class Real>
void pool3d_forward(call_context<Real>& ctx) {
  const auto& x = ctx.real("X");
  const std::vector<int> size = ctx.integer_list("ksize");
  auto y = zeros<Real>(windows_shape(ctx, "Out", shape_of(x), shape_of(x)[1], size));
  const bool average = is_average_pool(ctx);
  for_each_volume_window(ctx, shape_of(x), shape_of(y), [&](std::size_t to, const auto& held) {
    if (!average) {
      y.flat(to) = x.flat(largest_of(x, held));
      return;
    }
    for (const std::size_t i : held) y.flat(to) += x.flat(i);
    y.flat(to) /= volume_pool_count(ctx, held.size());
  });
  ctx.give("Out", std::move(y));
}
/// For an average, the gradient of a window is divided equally among its elements. For a maximum,
/// the first position of the largest element gets the whole gradient.
template <class Real>
void pool3d_gradient(call_context<Real>& ctx) {
  const auto& x = ctx.real("X");
  const auto& d = ctx.real("Out@GRAD");
  auto dx = zeros<Real>(shape_of(x));
  const bool average = is_average_pool(ctx);
  for_each_volume_window(ctx, shape_of(x), shape_of(d), [&](std::size_t from, const auto& held) {
    if (!average) {
      dx.flat(largest_of(x, held)) += d.flat(from);
      return;
    }
    for (const std::size_t i : held)
      dx.flat(i) += d.flat(from) / volume_pool_count(ctx, held.size());
  });
  ctx.give("X@GRAD", std::move(dx));
}

/// Out = the largest element of each window, Mask = its position, counted in its channel.
template <class Real>
void max_pool2d_with_index_forward(call_context<Real>& ctx) {
  const auto& x = ctx.real("X");
  const tensor_shape shape = shape_of(x), to = ctx.output_shape(ctx.wants("Out") ? "Out" : "Mask");
  auto y = zeros<Real>(to);
  auto positions = zeros<std::int64_t>(to);
  for_each_volume_window(ctx, shape, to, [&](std::size_t at, const auto& held) {
    const std::size_t position = largest_of(x, held);
    y.flat(at) = x.flat(position);
    positions.flat(at) = static_cast<std::int64_t>(position % matrix(shape, 2).columns);
  });
  ctx.give("Out", std::move(y));
  ctx.give("Mask", std::move(positions));
}
template <class Real>
void max_pool2d_with_index_gradient(call_context<Real>& ctx) {
  const auto& d = ctx.real("Out@GRAD");
  const auto positions = ctx.integers("Mask");
  auto dx = zeros<Real>(ctx.input("X").shape());
  const std::size_t few = matrix(shape_of(d), 2).columns, many = matrix(shape_of(dx), 2).columns;
  for (std::size_t i = 0; i < d.size(); ++i)
    dx.flat(i / few * many + static_cast<std::size_t>(positions.flat(i))) += d.flat(i);
  ctx.give("X@GRAD", std::move(dx));
}

/// Calls f(index of the element of X, index in Out to which it is written) for each element of X.
template <class Real, class F>
void for_each_unpooled(const call_context<Real>& ctx, const tensor_shape& out, F f) {
  const auto positions = ctx.integers("Indices");
  const std::size_t few = matrix(shape_of(positions), 2).columns, many = matrix(out, 2).columns;
  for (std::size_t i = 0; i < positions.size(); ++i) {
    ctx.require_range("Indices", positions.flat(i), 0, static_cast<std::int64_t>(many));
    f(i, i / few * many + static_cast<std::size_t>(positions.flat(i)));
  }
}
template <class Real>
void unpool_forward(call_context<Real>& ctx) {
  if (ctx.text("unpooling_type") != "max")
    ctx.fail("expected an unpooling_type 'max', found '" + ctx.text("unpooling_type") + "'");
  const auto& x = ctx.real("X");
  auto y = zeros<Real>(ctx.output_shape("Out"));
  for_each_unpooled(ctx, shape_of(y),
                    [&](std::size_t i, std::size_t at) { y.flat(at) = x.flat(i); });
  ctx.give("Out", std::move(y));
}
/// If several elements have been written to one position, only the last one gets the gradient.
template <class Real>
void unpool_gradient(call_context<Real>& ctx) {
  const auto& d = ctx.real("Out@GRAD");
  auto dx = zeros<Real>(ctx.input("X").shape());
  std::vector<std::size_t> last(d.size());
  for_each_unpooled(ctx, shape_of(d), [&](std::size_t i, std::size_t at) { last[at] = i; });
  for_each_unpooled(ctx, shape_of(d), [&](std::size_t i, std::size_t at) {
    if (last[at] == i) dx.flat(i) = d.flat(at);
  });
  ctx.give("X@GRAD", std::move(dx));
}

template <class Real>
void add_volume_pool_kernels(kernel_table<Real>& table) {
  table["pool3d"] = pool3d_forward<Real>;
  table["pool3d_grad"] = pool3d_gradient<Real>;
  table["max_pool2d_with_index"] = max_pool2d_with_index_forward<Real>;
  table["max_pool2d_with_index_grad"] = max_pool2d_with_index_gradient<Real>;
  table["unpool"] = unpool_forward<Real>;
  table["unpool_grad"] = unpool_gradient<Real>;
}

}}}  // namespace lamina::kernel
