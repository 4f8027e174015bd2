// SPDX-License-Identifier: Apache-2.0
// lamina/operators/embedding/gather/executor.hpp - the operators gather, scatter and multiplex,
// which copy the rows that an index selects.
#pragma once

#include <lamina/core/config.hpp>

#include <algorithm>
#include <set>

#include <lamina/core/numbers/wrapping.hpp>
#include <lamina/executor/call_context.hpp>
#include <lamina/executor/kernel_shape.hpp>
#include <lamina/operators/embedding/lookup_table/executor.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace kernel {

/// Out[i] = X[Index[i]].
template <class Real>
void gather_forward(call_context<Real>& ctx) {
  tensor_shape shape = ctx.input("X").shape();
  shape[0] = ctx.input("Index").size();
  ctx.give("Out", ctx.input("X").visit(
                      [&](const auto& x) { return tensor(rows_of(ctx, x, "Index", -1, shape)); }));
}
template <class Real>
void gather_gradient(call_context<Real>& ctx) {
  if (!ctx.wants("X@GRAD")) return;
  auto dx = zeros<double>(ctx.output_shape("X@GRAD"));
  add_rows<Real>(ctx, ctx.real("Out@GRAD"), "Index", -1, dx);
  ctx.give("X@GRAD", std::move(dx));
}

/// Out = X, except that Out[Ids[i]] = Updates[i]. If an entry has several updates, the last one
/// replaces it or, if `overwrite` is false, their sum.
template <class Real>
void scatter_forward(call_context<Real>& ctx) {
  const xt::xarray<std::int64_t> ids = ctx.integers("Ids");
  const bool overwrite = ctx.flag("overwrite");
  ctx.give("Out", ctx.input("X").visit([&]<class T>(const xt::xarray<T>& x) {
    xt::xarray<T> out = x;
    xt::xarray<T> storage;
    const xt::xarray<T>& updates = values_as(ctx.input("Updates"), storage);
    const std::size_t width = x.size() / std::max<std::size_t>(x.shape()[0], 1);
    if (updates.size() != ids.size() * width)
      ctx.fail("expected " + std::to_string(ids.size()) + " updates of " + std::to_string(width) +
               " elements, found " + to_string(shape_of(updates)));
    std::set<std::int64_t> seen;
    for (std::size_t i = 0; i < ids.size(); ++i) {
      ctx.require_range("Ids", ids.flat(i), 0, static_cast<std::int64_t>(x.shape()[0]));
      const std::size_t to = static_cast<std::size_t>(ids.flat(i)) * width;
      const bool replaces = seen.insert(ids.flat(i)).second || overwrite;
      for (std::size_t c = 0; c < width; ++c) {
        const T update = updates.flat(i * width + c);
        out.flat(to + c) = replaces ? update : math::wrapping_sum(out.flat(to + c), update);
      }
    }
    return tensor(std::move(out));
  }));
}
template <class Real>
void scatter_gradient(call_context<Real>& ctx) {
  const auto& d = ctx.real("Out@GRAD");
  const xt::xarray<std::int64_t> ids = ctx.integers("Ids");
  const std::size_t width = d.size() / std::max<std::size_t>(d.shape()[0], 1);
  xt::xarray<Real> dx = d;
  auto updates = zeros<Real>(ctx.input("Updates").shape());
  std::set<std::int64_t> seen;
  for (std::size_t i = ids.size(); i-- > 0;) {
    const std::size_t from = static_cast<std::size_t>(ids.flat(i)) * width;
    const bool counts = seen.insert(ids.flat(i)).second || !ctx.flag("overwrite");
    for (std::size_t c = 0; c < width; ++c) {
      if (counts) updates.flat(i * width + c) = d.flat(from + c);
      dx.flat(from + c) = 0;
    }
  }
  ctx.give("X@GRAD", std::move(dx));
  ctx.give("Updates@GRAD", std::move(updates));
}

/// Out[i] = X[Ids[i]][i].
template <class Real>
void multiplex_forward(call_context<Real>& ctx) {
  const xt::xarray<std::int64_t> ids = ctx.integers("Ids");
  ctx.give("Out", ctx.input("X", 0).visit([&]<class T>(const xt::xarray<T>& first) {
    xt::xarray<T> out = first;
    const std::size_t width = first.size() / std::max<std::size_t>(ids.size(), 1);
    xt::xarray<T> storage;
    for (std::size_t r = 0; r < ids.size(); ++r) {
      ctx.require_range("Ids", ids.flat(r), 0, ctx.count("X"));
      const xt::xarray<T>& x = values_as(ctx.input("X", static_cast<int>(ids.flat(r))), storage);
      for (std::size_t c = 0; c < width; ++c) out.flat(r * width + c) = x.flat(r * width + c);
    }
    return tensor(std::move(out));
  }));
}
template <class Real>
void multiplex_gradient(call_context<Real>& ctx) {
  const auto& d = ctx.real("Out@GRAD");
  const xt::xarray<std::int64_t> ids = ctx.integers("Ids");
  const std::size_t width = d.size() / std::max<std::size_t>(ids.size(), 1);
  for (int k = 0; k < ctx.output_count("X@GRAD"); ++k) {
    auto dx = zeros<Real>(shape_of(d));
    for (std::size_t i = 0; i < d.size(); ++i)
      if (ids.flat(i / width) == k) dx.flat(i) = d.flat(i);
    ctx.give("X@GRAD", std::move(dx), k);
  }
}

template <class Real>
void add_gather_kernels(kernel_table<Real>& table) {
  table["gather"] = gather_forward<Real>;
  table["gather_grad"] = gather_gradient<Real>;
  table["scatter"] = scatter_forward<Real>;
  table["scatter_grad"] = scatter_gradient<Real>;
  table["multiplex"] = multiplex_forward<Real>;
  table["multiplex_grad"] = multiplex_gradient<Real>;
}

}}}  // namespace lamina::kernel
