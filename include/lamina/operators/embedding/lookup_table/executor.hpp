// SPDX-License-Identifier: Apache-2.0
// lamina/operators/embedding/lookup_table/executor.hpp - rows by number and what counts them:
// lookup_table, gather, scatter, multiplex, one_hot, top_k, accuracy, auc.
#pragma once

#include <lamina/core/config.hpp>

#include <algorithm>
#include <numeric>
#include <set>

#include <lamina/core/extremes.hpp>
#include <lamina/core/sort_stably.hpp>
#include <lamina/executor/kernel_shape.hpp>
#include <lamina/executor/kernel_table.hpp>

namespace lamina::inline LAMINA_ABI::kernel {

/// Out[i] = table[ids[i]]; zeros if the id is `padding`.
template <class Real>
xt::xarray<Real> rows_of(const call_context<Real>& ctx, const xt::xarray<Real>& table,
                         const char* slot, std::int64_t padding, tensor_shape shape) {
  const xt::xarray<std::int64_t> ids = ctx.integers(slot);
  const std::size_t width = table.size() / std::max<std::size_t>(table.shape()[0], 1);
  auto out = zeros<Real>(shape);
  for (std::size_t r = 0; r < ids.size(); ++r) {
    const std::int64_t id = ids.flat(r);
    ctx.require_range(slot, id, 0, static_cast<std::int64_t>(table.shape()[0]));
    if (id == padding) continue;
    for (std::size_t c = 0; c < width; ++c)
      out.flat(r * width + c) = table.flat(static_cast<std::size_t>(id) * width + c);
  }
  return out;
}
/// The way back: table[ids[i]] += rows[i]; one entry may be added up from very many.
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

/// Out[i] = X[Index[i]].
template <class Real>
void gather_forward(call_context<Real>& ctx) {
  const auto& x = ctx.real("X");
  tensor_shape shape = shape_of(x);
  shape[0] = ctx.input("Index").size();
  ctx.give("Out", rows_of<Real>(ctx, x, "Index", -1, shape));
}
template <class Real>
void gather_gradient(call_context<Real>& ctx) {
  if (!ctx.wants("X@GRAD")) return;
  auto dx = zeros<double>(ctx.output_shape("X@GRAD"));
  add_rows<Real>(ctx, ctx.real("Out@GRAD"), "Index", -1, dx);
  ctx.give("X@GRAD", std::move(dx));
}

/// Out = X with Updates[i] as entry Ids[i], the last of several, or their sum.
template <class Real>
void scatter_forward(call_context<Real>& ctx) {
  const xt::xarray<std::int64_t> ids = ctx.integers("Ids");
  const bool overwrite = ctx.flag("overwrite");
  ctx.give("Out", ctx.input("X").visit([&]<class T>(const xt::xarray<T>& x) {
    xt::xarray<T> out = x;
    const xt::xarray<T>& updates = ctx.input("Updates").template as<T>();
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
        out.flat(to + c) = replaces ? update : static_cast<T>(out.flat(to + c) + update);
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
    for (std::size_t r = 0; r < ids.size(); ++r) {
      ctx.require_range("Ids", ids.flat(r), 0, ctx.count("X"));
      const auto& x = ctx.input("X", static_cast<int>(ids.flat(r))).template as<T>();
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

/// Out[i, X[i]] = 1.
template <class Real>
void one_hot_forward(call_context<Real>& ctx) {
  const auto x = ctx.integers("X");
  const int depth = ctx.integer("depth", 1);
  tensor_shape shape = shape_of(x);
  shape.back() = static_cast<std::size_t>(depth);
  auto out = zeros<Real>(shape);
  for (std::size_t r = 0; r < x.size(); ++r) {
    const std::int64_t k = x.flat(r);
    if (!ctx.flag("allow_out_of_range")) ctx.require_range("X", k, 0, depth);
    if (k >= 0 && k < depth) out.flat(r * shape.back() + static_cast<std::size_t>(k)) = 1;
  }
  ctx.give("Out", std::move(out));
}

/// The k largest elements of each row, largest first; equal elements keep their order. NaN is above
/// all numbers.
template <class Real>
void top_k_forward(call_context<Real>& ctx) {
  const auto& x = ctx.real("X");
  tensor_shape shape = shape_of(x);
  const std::size_t n = shape.back(), k = static_cast<std::size_t>(ctx.integer("k", 1));
  if (k < 1 || k > n)
    ctx.fail("expected k from 1 to " + std::to_string(n) + ", found " + std::to_string(k));
  shape.back() = k;
  auto out = zeros<Real>(shape);
  auto indices = zeros<std::int64_t>(shape);
  std::vector<std::size_t> order(n);
  for (std::size_t r = 0; r * n < x.size(); ++r) {
    std::iota(order.begin(), order.end(), std::size_t{0});
    sort_stably(order, [&](std::size_t a, std::size_t b) {
      return math::is_above(x.flat(r * n + a), x.flat(r * n + b));
    });
    for (std::size_t j = 0; j < k; ++j) {
      out.flat(r * k + j) = x.flat(r * n + order[j]);
      indices.flat(r * k + j) = static_cast<std::int64_t>(order[j]);
    }
  }
  ctx.give("Out", std::move(out));
  ctx.give("Indices", std::move(indices));
}
/// Each gradient goes to the source of its element.
template <class Real>
void top_k_gradient(call_context<Real>& ctx) {
  if (!ctx.wants("X@GRAD")) return;
  const auto& d = ctx.real("Out@GRAD");
  const auto indices = ctx.integers("Indices");
  auto dx = zeros<Real>(ctx.output_shape("X@GRAD"));
  const std::size_t n = dx.shape().back(), k = d.shape().back();
  for (std::size_t i = 0; i < d.size(); ++i)
    dx.flat(i / k * n + static_cast<std::size_t>(indices.flat(i))) += d.flat(i);
  ctx.give("X@GRAD", std::move(dx));
}

/// The fraction of the rows of Indices that contain their Label; a score of NaN does not count as a
/// hit.
template <class Real>
void accuracy_forward(call_context<Real>& ctx) {
  const auto indices = ctx.integers("Indices"), label = ctx.integers("Label");
  const std::size_t k = indices.shape().back(), rows = label.size();
  if (indices.size() != rows * k)
    ctx.fail("expected one label a row of " + to_string(shape_of(indices)) + ", found " +
             to_string(shape_of(label)));
  const auto& scores = ctx.real("Out");
  if (scores.size() != indices.size())
    ctx.fail("expected a score for each index of " + to_string(shape_of(indices)) + ", found " +
             to_string(shape_of(scores)));
  std::int32_t correct = 0;
  for (std::size_t r = 0; r < rows; ++r) {
    const std::int64_t *row = indices.data() + r * k, *hit = std::find(row, row + k, label.flat(r));
    if (hit == row + k) continue;
    const Real score = scores.flat(r * k + static_cast<std::size_t>(hit - row));
    if (score == score) ++correct;
  }
  const Real part = rows == 0 ? Real(0) : static_cast<Real>(correct) / static_cast<Real>(rows);
  ctx.give("Accuracy", tensor::filled<Real>({1}, part));
  ctx.give("Correct", tensor::filled<std::int32_t>({1}, correct));
  ctx.give("Total", tensor::filled<std::int32_t>({1}, static_cast<std::int32_t>(rows)));
}

/// Counts each row by its score in steps of 1 / num_thresholds, then adds up the trapezoids under
/// the curve from the highest score down.
template <class Real>
void auc_forward(call_context<Real>& ctx) {
  const auto& predict = ctx.real("Predict");
  const auto label = ctx.integers("Label");
  auto positive = ctx.integers("StatPos"), negative = ctx.integers("StatNeg");
  const int thresholds = ctx.integer("num_thresholds", 4095);
  if (ctx.text("curve") != "ROC")
    ctx.fail("expected the curve 'ROC', found '" + ctx.text("curve") + "'");
  if (positive.size() != static_cast<std::size_t>(thresholds) + 1 ||
      negative.size() != positive.size())
    ctx.fail("expected " + std::to_string(thresholds + 1) +
             " counts in StatPos and StatNeg, found " + std::to_string(positive.size()) + " and " +
             std::to_string(negative.size()));
  const std::size_t width = predict.shape().back();
  for (std::size_t r = 0; r < label.size(); ++r) {
    const Real score = predict.flat(r * width + width - 1);
    if (!(score >= 0 && score <= 1))
      ctx.fail(
          (text("expected probabilities in variable '") << ctx.input_name("Predict") << "', found ")
              .print("%g", static_cast<double>(score)));
    const std::size_t bin = static_cast<std::size_t>(score * static_cast<Real>(thresholds));
    ++(label.flat(r) > 0 ? positive : negative).flat(bin);
  }
  double area = 0, p = 0, n = 0;
  for (std::size_t i = positive.size(); i-- > 0;) {
    const double more = static_cast<double>(positive.flat(i));
    const double width_of_step = static_cast<double>(negative.flat(i));
    area += width_of_step * (p + p + more) / 2;
    p += more;
    n += width_of_step;
  }
  ctx.give("AUC", tensor::filled<double>({1}, p > 0 && n > 0 ? area / p / n : 0.0));
  ctx.give("StatPosOut", std::move(positive));
  ctx.give("StatNegOut", std::move(negative));
}

template <class Real>
void add_lookup_kernels(kernel_table<Real>& table) {
  table["lookup_table"] = lookup_table_forward<Real>;
  table["lookup_table_grad"] = lookup_table_gradient<Real>;
  table["gather"] = gather_forward<Real>;
  table["gather_grad"] = gather_gradient<Real>;
  table["scatter"] = scatter_forward<Real>;
  table["scatter_grad"] = scatter_gradient<Real>;
  table["multiplex"] = multiplex_forward<Real>;
  table["multiplex_grad"] = multiplex_gradient<Real>;
  table["one_hot"] = one_hot_forward<Real>;
  table["top_k"] = top_k_forward<Real>;
  table["top_k_grad"] = top_k_gradient<Real>;
  table["accuracy"] = accuracy_forward<Real>;
  table["auc"] = auc_forward<Real>;
}

}  // namespace lamina::inline LAMINA_ABI::kernel
