// SPDX-License-Identifier: Apache-2.0
// lamina/operators/resize/executor.hpp - bilinear_interp and nearest_interp, which resize images,
// and pad2d, which pads them.
#pragma once

#include <lamina/core/config.hpp>

#include <string>
#include <utility>

#include <lamina/executor/call_context.hpp>
#include <lamina/executor/kernel_shape.hpp>
#include <lamina/operators/resize/definition.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace kernel {

/// Calls f(position in Out, position in X, weight) for each element of X that contributes to an
/// element of Out. Skips elements with the weight 0, because 0 times infinity is NaN.
template <class Real, class F>
void for_each_neighbour(const call_context<Real>& ctx, const tensor_shape& from,
                        const tensor_shape& to, F f) {
  if (ctx.has("OutSize")) {
    const auto size = ctx.integers("OutSize");
    for (std::size_t d = 0; d < 2; ++d)
      if (size.size() != 2 || size.flat(d) != static_cast<std::int64_t>(to[2 + d]))
        ctx.fail("expected an OutSize that is the recorded size " + to_string(to) +
                 ", found another");
  }
  const bool is_nearest = std::string(ctx.schema().type).rfind("nearest", 0) == 0;
  const auto position = [&](std::size_t k, std::size_t d) {
    return position_between(static_cast<int>(k), static_cast<int>(from[d]), static_cast<int>(to[d]),
                            is_nearest, ctx.attribute("align_corners", 1) != 0,
                            ctx.integer("align_mode", 1));
  };
  std::size_t at = 0;
  for (std::size_t c = 0; c < to[0] * to[1]; ++c)
    for (std::size_t y = 0; y < to[2]; ++y)
      for (std::size_t x = 0; x < to[3]; ++x, ++at) {
        const interpolation_position v = position(y, 2), h = position(x, 3);
        for (const bool below : {false, true})
          for (const bool right : {false, true}) {
            const std::size_t row = static_cast<std::size_t>(below ? v.high : v.low);
            const std::size_t column = static_cast<std::size_t>(right ? h.high : h.low);
            const Real weight = static_cast<Real>(below ? v.fraction : 1 - v.fraction) *
                                static_cast<Real>(right ? h.fraction : 1 - h.fraction);
            if (weight != 0) f(at, (c * from[2] + row) * from[3] + column, weight);
          }
      }
}

template <class Real>
void interpolate_forward(call_context<Real>& ctx) {
  const auto& x = ctx.real("X");
  auto y = zeros<Real>(ctx.output_shape("Out"));
  for_each_neighbour(
      ctx, shape_of(x), shape_of(y),
      [&](std::size_t to, std::size_t from, Real weight) { y.flat(to) += weight * x.flat(from); });
  ctx.give("Out", std::move(y));
}
template <class Real>
void interpolate_gradient(call_context<Real>& ctx) {
  const auto& d = ctx.real("Out@GRAD");
  auto dx = zeros<Real>(shape_of(ctx.real("X")));
  for_each_neighbour(
      ctx, shape_of(dx), shape_of(d),
      [&](std::size_t to, std::size_t from, Real weight) { dx.flat(from) += weight * d.flat(to); });
  ctx.give("X@GRAD", std::move(dx));
}

/// Calls f(position in Out, position in X or -1 for a constant) for each element of Out.
template <class Real, class F>
void for_each_padded(const call_context<Real>& ctx, const tensor_shape& from,
                     const tensor_shape& to, F f) {
  const auto paddings = ctx.integer_list("paddings");
  const std::string mode = ctx.text("mode");
  if (paddings.size() != 4 || (mode != "constant" && mode != "reflect" && mode != "edge"))
    ctx.fail("expected 4 paddings and a mode 'constant', 'reflect' or 'edge', found " +
             std::to_string(paddings.size()) + " and '" + mode + "'");
  const auto position = [&](std::size_t k, std::size_t d, int before) {
    return position_in_padded(static_cast<int>(k), before, static_cast<int>(from[d]),
                              mode == "reflect", mode == "edge");
  };
  std::ptrdiff_t at = 0;
  for (std::size_t c = 0; c < to[0] * to[1]; ++c)
    for (std::size_t y = 0; y < to[2]; ++y)
      for (std::size_t x = 0; x < to[3]; ++x, ++at) {
        const int row = position(y, 2, paddings[0]), column = position(x, 3, paddings[2]);
        f(at, row < 0 || column < 0 ? -1
                                    : (static_cast<std::ptrdiff_t>(c * from[2]) + row) *
                                              static_cast<std::ptrdiff_t>(from[3]) +
                                          column);
      }
}

template <class Real>
void pad2d_forward(call_context<Real>& ctx) {
  const auto& x = ctx.real("X");
  auto y = zeros<Real>(ctx.output_shape("Out"));
  const Real value = ctx.real_attribute("pad_value");
  for_each_padded(ctx, shape_of(x), shape_of(y), [&](std::ptrdiff_t to, std::ptrdiff_t from) {
    y.flat(static_cast<std::size_t>(to)) =
        from < 0 ? value : x.flat(static_cast<std::size_t>(from));
  });
  ctx.give("Out", std::move(y));
}
template <class Real>
void pad2d_gradient(call_context<Real>& ctx) {
  const auto& d = ctx.real("Out@GRAD");
  auto dx = zeros<Real>(shape_of(ctx.real("X")));
  for_each_padded(ctx, shape_of(dx), shape_of(d), [&](std::ptrdiff_t to, std::ptrdiff_t from) {
    if (from >= 0) dx.flat(static_cast<std::size_t>(from)) += d.flat(static_cast<std::size_t>(to));
  });
  ctx.give("X@GRAD", std::move(dx));
}

template <class Real>
void add_resize_kernels(kernel_table<Real>& table) {
  for (const char* type : {"bilinear_interp", "nearest_interp"})
    table[type] = interpolate_forward<Real>;
  for (const char* type : {"bilinear_interp_grad", "nearest_interp_grad"})
    table[type] = interpolate_gradient<Real>;
  table["pad2d"] = pad2d_forward<Real>;
  table["pad2d_grad"] = pad2d_gradient<Real>;
}

}}}  // namespace lamina::kernel
