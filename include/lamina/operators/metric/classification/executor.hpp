// SPDX-License-Identifier: Apache-2.0
// lamina/operators/metric/classification/executor.hpp - the operators top_k, one_hot, accuracy and
// auc.
#pragma once

#include <lamina/core/config.hpp>

#include <algorithm>
#include <numeric>

#include <lamina/core/arrays/sort_stably.hpp>
#include <lamina/core/numbers/extremes.hpp>
#include <lamina/executor/call_context.hpp>
#include <lamina/executor/kernel_shape.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace kernel {

/// Out[i, X[i]] = 1; all other elements are 0.
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

/// Out = the k largest elements of each row, the largest first. Equal elements keep their order,
/// and NaN ranks above all numbers.
template <class Real>
void top_k_forward(call_context<Real>& ctx) {
  tensor_shape shape = ctx.input("X").shape();
  const std::size_t n = shape.back(), k = static_cast<std::size_t>(ctx.integer("k", 1));
  if (k < 1 || k > n)
    ctx.fail("expected k from 1 to " + std::to_string(n) + ", found " + std::to_string(k));
  shape.back() = k;
  auto indices = zeros<std::int64_t>(shape);
  ctx.give("Out", with_values(ctx, "X", [&]<class T>(const xt::xarray<T>& x) {
             auto out = zeros<T>(shape);
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
             return tensor(std::move(out));
           }));
  ctx.give("Indices", std::move(indices));
}
/// The gradient of an element of Out goes to the element of X from which it was copied.
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

/// Accuracy = the fraction of the rows of Indices that contain their Label. A label with the score
/// NaN does not count.
template <class Real>
void accuracy_forward(call_context<Real>& ctx) {
  const auto indices = ctx.integers("Indices"), label = ctx.integers("Label");
  const std::size_t k = indices.shape().back(), rows = label.size();
  if (indices.size() != rows * k)
    ctx.fail("expected one label per row of " + to_string(shape_of(indices)) + ", found " +
             to_string(shape_of(label)));
  xt::xarray<double> storage;
  const xt::xarray<double>& scores = values_as(ctx.input("Out"), storage);
  if (scores.size() != indices.size())
    ctx.fail("expected a score for each index of " + to_string(shape_of(indices)) + ", found " +
             to_string(shape_of(scores)));
  std::int32_t correct = 0;
  for (std::size_t r = 0; r < rows; ++r) {
    const std::int64_t *row = indices.data() + r * k, *hit = std::find(row, row + k, label.flat(r));
    if (hit == row + k) continue;
    const double score = scores.flat(r * k + static_cast<std::size_t>(hit - row));
    if (score == score) ++correct;
  }
  const Real part = rows == 0 ? Real(0) : static_cast<Real>(correct) / static_cast<Real>(rows);
  ctx.give("Accuracy", tensor::filled<Real>({1}, part));
  ctx.give("Correct", tensor::filled<std::int32_t>({1}, correct));
  ctx.give("Total", tensor::filled<std::int32_t>({1}, static_cast<std::int32_t>(rows)));
}

/// Counts the rows per score, in steps of 1 / num_thresholds. Then adds up the areas of the
/// trapezoids under the ROC curve, from the highest score to the lowest.
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
void add_classification_kernels(kernel_table<Real>& table) {
  table["one_hot"] = one_hot_forward<Real>;
  table["top_k"] = top_k_forward<Real>;
  table["top_k_grad"] = top_k_gradient<Real>;
  table["accuracy"] = accuracy_forward<Real>;
  table["auc"] = auc_forward<Real>;
}

}}}  // namespace lamina::kernel
