// SPDX-License-Identifier: Apache-2.0
// lamina/operators/order/argsort/executor.hpp - argsort, arg_max and arg_min, which compare
// elements along a dimension.
#pragma once

#include <lamina/core/config.hpp>

#include <numeric>

#include <lamina/core/arrays/sort_stably.hpp>
#include <lamina/core/numbers/extremes.hpp>
#include <lamina/executor/call_context.hpp>
#include <lamina/executor/kernel_shape.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace kernel {

/// Calls f for each line of a shape along `axis`. The argument of f is a function that returns the
/// position of element k of the line.
template <class F>
void for_each_line(const lines& l, F f) {
  for (std::size_t o = 0; o < l.outer; ++o)
    for (std::size_t i = 0; i < l.inner; ++i) f([&](std::size_t k) { return l.at(o, k, i); });
}

/// Out = the sorted elements of each line, Indices = their previous positions. NaN counts as larger
/// than all numbers.
template <class Real>
void argsort_forward(call_context<Real>& ctx) {
  const tensor_shape shape = ctx.input("X").shape();
  const lines l(shape, ctx.axis("axis", shape.size(), -1));
  const bool descending = ctx.flag("descending");
  auto indices = zeros<std::int64_t>(shape);
  tensor out = ctx.input("X").visit([&]<class T>(const xt::xarray<T>& x) {
    xt::xarray<T> sorted = x;
    std::vector<std::size_t> order(l.n);
    const auto less = [](T a, T b) { return a < b || (a == a && b != b); };
    for_each_line(l, [&](auto at) {
      std::iota(order.begin(), order.end(), std::size_t{0});
      sort_stably(order, [&](std::size_t a, std::size_t b) {
        const T u = x.flat(at(a)), v = x.flat(at(b));
        return descending ? less(v, u) : less(u, v);
      });
      for (std::size_t k = 0; k < l.n; ++k) {
        sorted.flat(at(k)) = x.flat(at(order[k]));
        indices.flat(at(k)) = static_cast<std::int64_t>(order[k]);
      }
    });
    return tensor(std::move(sorted));
  });
  ctx.give("Out", std::move(out));
  ctx.give("Indices", std::move(indices));
}
/// The gradient of an element of Out goes to the element of X from which it was copied.
template <class Real>
void argsort_gradient(call_context<Real>& ctx) {
  if (!ctx.wants("X@GRAD")) return;
  const auto& d = ctx.real("Out@GRAD");
  const auto indices = ctx.integers("Indices");
  auto dx = zeros<Real>(shape_of(d));
  const lines l(shape_of(d), ctx.axis("axis", d.dimension(), -1));
  for_each_line(l, [&](auto at) {
    for (std::size_t k = 0; k < l.n; ++k)
      dx.flat(at(static_cast<std::size_t>(indices.flat(at(k))))) += d.flat(at(k));
  });
  ctx.give("X@GRAD", std::move(dx));
}

/// Out = the index of the largest or smallest element of each line; among equal elements, the index
/// of the first.
template <class Real, bool Largest>
void arg_extreme_forward(call_context<Real>& ctx) {
  tensor_shape shape = ctx.input("X").shape();
  const std::size_t axis = ctx.axis("axis", shape.size());
  const lines l(shape, axis);
  if (l.n == 0 && l.outer * l.inner > 0)
    ctx.fail("expected elements along dimension " + std::to_string(axis) + ", found none");
  if (ctx.flag("keepdims") || shape.size() == 1)
    shape[axis] = 1;
  else
    shape.erase(shape.begin() + static_cast<std::ptrdiff_t>(axis));
  auto out = zeros<std::int64_t>(shape);
  ctx.input("X").visit([&]<class T>(const xt::xarray<T>& x) {
    std::size_t to = 0;
    for_each_line(l, [&](auto at) {
      std::size_t best = 0;
      for (std::size_t k = 1; k < l.n; ++k) {
        const T u = x.flat(at(best)), v = x.flat(at(k));
        if (Largest ? math::is_above(v, u) : math::is_below(v, u)) best = k;
      }
      out.flat(to++) = static_cast<std::int64_t>(best);
    });
  });
  ctx.give("Out", std::move(out));
}

template <class Real>
void add_argsort_kernels(kernel_table<Real>& table) {
  table["argsort"] = argsort_forward<Real>;
  table["argsort_grad"] = argsort_gradient<Real>;
  table["arg_max"] = arg_extreme_forward<Real, true>;
  table["arg_min"] = arg_extreme_forward<Real, false>;
}

}}}  // namespace lamina::kernel
