// SPDX-License-Identifier: Apache-2.0
// lamina/operators/embedding/lookup_table/executor.hpp - the operator lookup_table, which copies
// the rows of a table that ids select.
#pragma once

#include <lamina/core/config.hpp>

#include <algorithm>
#include <set>

#include <lamina/executor/call_context.hpp>
#include <lamina/executor/kernel_shape.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace kernel {

/// Returns the array with the rows table[ids[i]], or zeros where the id is `padding`.
template <class Real, class T>
xt::xarray<T> rows_of(const call_context<Real>& ctx, const xt::xarray<T>& table, const char* slot,
                      std::int64_t padding, tensor_shape shape) {
  const xt::xarray<std::int64_t> ids = ctx.integers(slot);
  const std::size_t width = table.size() / std::max<std::size_t>(table.shape()[0], 1);
  auto out = zeros<T>(shape);
  for (std::size_t r = 0; r < ids.size(); ++r) {
    const std::int64_t id = ids.flat(r);
    ctx.require_range(slot, id, 0, static_cast<std::int64_t>(table.shape()[0]));
    if (id == padding) continue;
    for (std::size_t c = 0; c < width; ++c)
      out.flat(r * width + c) = table.flat(static_cast<std::size_t>(id) * width + c);
  }
  return out;
}
/// Computes the gradient of rows_of: table[ids[i]] += rows[i]. The sums are computed in double,
/// because an entry may be a sum of very many rows.
template <class Real>
void add_rows(const call_context<Real>& ctx, const xt::xarray<Real>& rows, const char* slot,
              std::int64_t padding, xt::xarray<double>& table) {
  const xt::xarray<std::int64_t> ids = ctx.integers(slot);
  const std::size_t width = table.size() / std::max<std::size_t>(table.shape()[0], 1);
  for (std::size_t r = 0; r < ids.size(); ++r) {
    const std::int64_t id = ids.flat(r);
    ctx.require_range(slot, id, 0, static_cast<std::int64_t>(table.shape()[0]));
    if (id == padding) continue;
    for (std::size_t c = 0; c < width; ++c)
      table.flat(static_cast<std::size_t>(id) * width + c) +=
          static_cast<double>(rows.flat(r * width + c));
  }
}

template <class Real>
std::int64_t padding_of(const call_context<Real>& ctx) {
  return static_cast<std::int64_t>(ctx.attribute("padding_idx", -1));
}
template <class Real>
void lookup_table_forward(call_context<Real>& ctx) {
  const auto& table = ctx.real("W");
  tensor_shape shape = ctx.input("Ids").shape();
  shape.back() = table.shape()[1];
  ctx.give("Out", rows_of<Real>(ctx, table, "Ids", padding_of(ctx), shape));
}
template <class Real>
void lookup_table_gradient(call_context<Real>& ctx) {
  if (!ctx.wants("W@GRAD")) return;
  auto dw = zeros<double>(ctx.output_shape("W@GRAD"));
  add_rows<Real>(ctx, ctx.real("Out@GRAD"), "Ids", padding_of(ctx), dw);
  if (std::set<std::int64_t>* const rows = ctx.selected_output("W@GRAD")) {
    rows->clear();
    for (const std::int64_t id : ctx.integers("Ids"))
      if (id != padding_of(ctx)) rows->insert(id);
  }
  ctx.give("W@GRAD", std::move(dw));
}

template <class Real>
void add_lookup_kernels(kernel_table<Real>& table) {
  table["lookup_table"] = lookup_table_forward<Real>;
  table["lookup_table_grad"] = lookup_table_gradient<Real>;
}

}}}  // namespace lamina::kernel
