// SPDX-License-Identifier: Apache-2.0
// lamina/operators/loss/row/executor.hpp - costs: cross entropies, smooth_l1_loss, kldiv_loss,
// bpr_loss, label_smooth.
#pragma once

#include <lamina/core/config.hpp>

#include <algorithm>
#include <cmath>
#include <limits>

#include <lamina/operators/loss/pointwise/definition.hpp>
#include <lamina/operators/norm/layer_norm/executor.hpp>

namespace lamina::inline LAMINA_ABI::kernel {

/// The label of a row, checked against the number of classes; -1 for a row that is ignored.
template <class Real>
std::int64_t label_of(const call_context<Real>& ctx, const xt::xarray<std::int64_t>& labels,
                      std::size_t row, std::size_t classes) {
  const std::int64_t label = labels.flat(row);
  if (label == ctx.integer("ignore_index", -100)) return -1;
  ctx.require_range("Label", label, 0, static_cast<std::int64_t>(classes));
  return label;
}

/// The labels, of which there must be one per row.
template <class Real>
xt::xarray<std::int64_t> labels_of(const call_context<Real>& ctx, std::size_t rows) {
  xt::xarray<std::int64_t> labels = ctx.integers("Label");
  if (labels.size() != rows)
    ctx.fail("expected " + std::to_string(rows) + " labels in variable '" +
             ctx.input_name("Label") + "', found the shape " + to_string(shape_of(labels)));
  return labels;
}

/// The shape of the rows: one number in place of the last dimension.
inline tensor_shape cost_shape(tensor_shape shape) {
  shape.back() = 1;
  return shape;
}

/// Y = -log X[label], or -sum label * log X; the logarithm is clipped to +-1e20.
template <class Real>
void cross_entropy_forward(call_context<Real>& ctx) {
  const auto& x = ctx.real("X");
  const matrix m(shape_of(x), x.dimension() - 1);
  const auto log_of = [](Real p) {
    return std::clamp(std::log(p), static_cast<Real>(-1e20), static_cast<Real>(1e20));
  };
  auto y = zeros<Real>(cost_shape(shape_of(x)));
  if (ctx.flag("soft_label")) {
    const auto& label = ctx.real("Label");
    for (std::size_t i = 0; i < x.size(); ++i)
      if (label.flat(i) != 0) y.flat(i / m.columns) -= label.flat(i) * log_of(x.flat(i));
  } else {
    const auto labels = labels_of(ctx, m.rows);
    for (std::size_t r = 0; r < m.rows; ++r) {
      const std::int64_t k = label_of(ctx, labels, r, m.columns);
      if (k >= 0) y.flat(r) = -log_of(x.flat(r * m.columns + static_cast<std::size_t>(k)));
    }
  }
  ctx.give("Y", std::move(y));
}

/// d / p, limited so that a sum of several such quotients stays finite; 0 where d is 0.
template <class Real>
Real finite_ratio(Real d, Real p) {
  constexpr Real most = std::numeric_limits<Real>::max() / 1024;
  return d == 0 ? Real(0) : std::clamp(d / p, -most, most);
}

/// dx = -dy * label / x, with the label as a distribution.
template <class Real>
void cross_entropy_gradient(call_context<Real>& ctx) {
  const auto& x = ctx.real("X");
  const auto& d = ctx.real("Y@GRAD");
  const matrix m(shape_of(x), x.dimension() - 1);
  auto dx = zeros<Real>(shape_of(x));
  if (ctx.flag("soft_label")) {
    const auto& label = ctx.real("Label");
    for (std::size_t i = 0; i < x.size(); ++i)
      dx.flat(i) = finite_ratio<Real>(-d.flat(i / m.columns) * label.flat(i), x.flat(i));
  } else {
    const auto labels = labels_of(ctx, m.rows);
    for (std::size_t r = 0; r < m.rows; ++r) {
      const std::int64_t k = label_of(ctx, labels, r, m.columns);
      const std::size_t at = r * m.columns + static_cast<std::size_t>(k < 0 ? 0 : k);
      if (k >= 0) dx.flat(at) = finite_ratio<Real>(-d.flat(r), x.flat(at));
    }
  }
  ctx.give("X@GRAD", std::move(dx));
}

/// Softmax, and Loss = log sum e^(x - max) - (x - max)[label], or that weighted by soft labels.
template <class Real>
void softmax_with_cross_entropy_forward(call_context<Real>& ctx) {
  const auto& x = ctx.real("Logits");
  const matrix m(shape_of(x), x.dimension() - 1);
  auto loss = zeros<Real>(cost_shape(shape_of(x)));
  const bool soft = ctx.flag("soft_label");
  const auto labels = soft ? xt::xarray<std::int64_t>() : labels_of(ctx, m.rows);
  for (std::size_t r = 0; r < m.rows; ++r) {
    const Real* row = x.data() + r * m.columns;
    const Real most = *std::max_element(row, row + m.columns);
    Real sum = 0;
    for (std::size_t c = 0; c < m.columns; ++c) sum += std::exp(row[c] - most);
    const Real log_sum = std::log(sum);
    if (soft) {
      for (std::size_t c = 0; c < m.columns; ++c)
        if (const Real share = ctx.real("Label").flat(r * m.columns + c); share != 0)
          loss.flat(r) += share * (log_sum - (row[c] - most));
    } else {
      const std::int64_t k = label_of(ctx, labels, r, m.columns);
      if (k >= 0) loss.flat(r) = log_sum - (row[k] - most);
    }
  }
  auto softmax = softmax_of<Real>(x, x.dimension() - 1);
  ctx.give("Softmax", std::move(softmax));
  ctx.give("Loss", std::move(loss));
}

/// dx = dy * (softmax - label), with the label as a distribution; 0 in a row that is ignored. Soft
/// labels need not add up to 1: dx = dy * (softmax * sum label - label).
template <class Real>
void softmax_with_cross_entropy_gradient(call_context<Real>& ctx) {
  auto dx = ctx.real("Softmax");
  const auto& d = ctx.real("Loss@GRAD");
  const matrix m(shape_of(dx), dx.dimension() - 1);
  if (ctx.flag("soft_label")) {
    const auto& label = ctx.real("Label");
    for (std::size_t r = 0; r < m.rows; ++r) {
      Real sum = 0;
      for (std::size_t c = 0; c < m.columns; ++c) sum += label.flat(r * m.columns + c);
      for (std::size_t i = r * m.columns; i < (r + 1) * m.columns; ++i)
        dx.flat(i) = d.flat(r) == 0 ? Real(0) : d.flat(r) * (dx.flat(i) * sum - label.flat(i));
    }
  } else {
    const auto labels = labels_of(ctx, m.rows);
    for (std::size_t r = 0; r < m.rows; ++r) {
      const std::int64_t k = label_of(ctx, labels, r, m.columns);
      for (std::size_t c = 0; c < m.columns; ++c) {
        Real& to = dx.flat(r * m.columns + c);
        to = k < 0 || d.flat(r) == 0
                 ? Real(0)
                 : d.flat(r) * (to - (static_cast<std::int64_t>(c) == k ? 1 : 0));
      }
    }
  }
  ctx.give("Logits@GRAD", std::move(dx));
}

/// The divisor of the elements if `normalize` is set: the number of elements whose label is not
/// ignored.
template <class Real>
Real sigmoid_divisor(const call_context<Real>& ctx) {
  if (!ctx.flag("normalize")) return 1;
  const Real ignore = ctx.real_attribute("ignore_index", -100);
  const auto& label = ctx.real("Label");
  Real n = 0;
  for (std::size_t i = 0; i < label.size(); ++i) n += label.flat(i) == ignore ? 0 : 1;
  return n == 0 ? Real(1) : n;
}

/// Out = max(x, 0) - x * label + log(1 + e^-|x|), 0 if the label is ignored.
template <class Real>
void sigmoid_cross_entropy_forward(call_context<Real>& ctx) {
  const auto& x = ctx.real("X");
  const auto& label = ctx.real("Label");
  const Real ignore = ctx.real_attribute("ignore_index", -100), divisor = sigmoid_divisor(ctx);
  auto out = zeros<Real>(shape_of(x));
  for (std::size_t i = 0; i < x.size(); ++i) {
    const Real v = x.flat(i);
    if (label.flat(i) != ignore)
      out.flat(i) = lamina::detail::binary_cost<Real>(v, label.flat(i)) / divisor;
  }
  ctx.give("Out", std::move(out));
}

/// dx = dy * (sigmoid(x) - label).
template <class Real>
void sigmoid_cross_entropy_gradient(call_context<Real>& ctx) {
  const auto& x = ctx.real("X");
  const auto& label = ctx.real("Label");
  const auto& d = ctx.real("Out@GRAD");
  const Real ignore = ctx.real_attribute("ignore_index", -100), divisor = sigmoid_divisor(ctx);
  auto dx = zeros<Real>(shape_of(x));
  for (std::size_t i = 0; i < x.size(); ++i)
    if (label.flat(i) != ignore)
      dx.flat(i) =
          d.flat(i) * lamina::detail::binary_slope<Real>(x.flat(i), label.flat(i)) / divisor;
  ctx.give("X@GRAD", std::move(dx));
}

/// Diff = InsideWeight * (X - Y), Out = the sum of OutsideWeight * smooth(Diff) over each row.
template <class Real>
void smooth_l1_forward(call_context<Real>& ctx) {
  auto diff = ctx.real("X");
  diff -= ctx.real("Y");
  // An element of weight 0 does not count, even if it is infinite.
  for (std::size_t i = 0; ctx.has("InsideWeight") && i < diff.size(); ++i) {
    const Real weight = ctx.real("InsideWeight").flat(i);
    diff.flat(i) = weight == 0 ? Real(0) : diff.flat(i) * weight;
  }
  const Real s2 = ctx.real_attribute("sigma", 1) * ctx.real_attribute("sigma", 1);
  const matrix m(shape_of(diff), 1);
  auto out = zeros<Real>({m.rows, 1});
  for (std::size_t i = 0; i < diff.size(); ++i) {
    const Real size = std::abs(diff.flat(i));
    const Real cost = size < 1 / s2 ? size * size * s2 / 2 : size - Real(0.5) / s2;
    const Real weight = ctx.has("OutsideWeight") ? ctx.real("OutsideWeight").flat(i) : Real(1);
    out.flat(i / m.columns) += weight == 0 ? Real(0) : cost * weight;
  }
  ctx.give("Diff", std::move(diff));
  ctx.give("Out", std::move(out));
}

/// dx = dy * InsideWeight * OutsideWeight * (sigma^2 * diff, or its sign beyond 1 / sigma^2).
template <class Real>
void smooth_l1_gradient(call_context<Real>& ctx) {
  auto dx = ctx.real("Diff");
  const auto& d = ctx.real("Out@GRAD");
  const Real s2 = ctx.real_attribute("sigma", 1) * ctx.real_attribute("sigma", 1);
  const matrix m(shape_of(dx), 1);
  for (std::size_t i = 0; i < dx.size(); ++i) {
    Real& to = dx.flat(i);
    to = std::abs(to) >= 1 / s2 ? (to > 0 ? Real(1) : Real(-1)) : s2 * to;
    to *= d.flat(i / m.columns);
    Real weight = ctx.has("InsideWeight") ? ctx.real("InsideWeight").flat(i) : Real(1);
    if (ctx.has("OutsideWeight")) weight *= ctx.real("OutsideWeight").flat(i);
    to = weight == 0 ? Real(0) : to * weight;
  }
  auto dy = dx;
  dy *= Real(-1);
  ctx.give("X@GRAD", std::move(dx));
  ctx.give("Y@GRAD", std::move(dy));
}

/// The divisor of the sum of kldiv_loss.
template <class Real>
Real kldiv_divisor(const call_context<Real>& ctx, const tensor_shape& shape) {
  const std::string reduction = ctx.text("reduction");
  if (reduction == "mean") return static_cast<Real>(size_of(shape));
  if (reduction == "batchmean") return static_cast<Real>(shape[0]);
  if (reduction != "sum" && reduction != "none")
    ctx.fail("expected the reduction 'mean', 'batchmean', 'sum' or 'none', found '" + reduction +
             "'");
  return 1;
}

/// target * (log target - x), reduced.
template <class Real>
void kldiv_forward(call_context<Real>& ctx) {
  const auto& x = ctx.real("X");
  const auto& target = ctx.real("Target");
  auto each = zeros<Real>(shape_of(x));
  auto whole = zeros<Real>({1});
  const Real divisor = kldiv_divisor(ctx, shape_of(x));
  for (std::size_t i = 0; i < x.size(); ++i) {
    const Real t = target.flat(i);
    each.flat(i) = t <= 0 ? Real(0) : t * (std::log(t) - x.flat(i));
    whole.flat(0) += each.flat(i) / divisor;
  }
  ctx.give("Loss", ctx.text("reduction") == "none" ? std::move(each) : std::move(whole));
}

/// dx = -dy * target.
template <class Real>
void kldiv_gradient(call_context<Real>& ctx) {
  const auto& target = ctx.real("Target");
  const auto& d = ctx.real("Loss@GRAD");
  const Real divisor = kldiv_divisor(ctx, shape_of(target));
  const bool none = ctx.text("reduction") == "none";
  auto dx = zeros<Real>(shape_of(target));
  for (std::size_t i = 0; i < dx.size(); ++i)
    if (!(target.flat(i) <= 0)) dx.flat(i) = -d.flat(none ? i : 0) * target.flat(i) / divisor;
  ctx.give("X@GRAD", std::move(dx));
}

/// Y = mean over j != label of log(1 + e^(x_j - x_label)).
template <class Real>
void bpr_forward(call_context<Real>& ctx) {
  const auto& x = ctx.real("X");
  const matrix m(shape_of(x), x.dimension() - 1);
  const auto labels = labels_of(ctx, m.rows);
  auto y = zeros<Real>(cost_shape(shape_of(x)));
  for (std::size_t r = 0; r < m.rows; ++r) {
    const Real* row = x.data() + r * m.columns;
    const std::int64_t k = label_of(ctx, labels, r, m.columns);
    if (k < 0) continue;
    for (std::size_t c = 0; c < m.columns; ++c)
      if (static_cast<std::int64_t>(c) != k)
        y.flat(r) += math::log1p_exp(row[c] - row[k]) / static_cast<Real>(m.columns - 1);
  }
  ctx.give("Y", std::move(y));
}
template <class Real>
void bpr_gradient(call_context<Real>& ctx) {
  const auto& x = ctx.real("X");
  const auto& d = ctx.real("Y@GRAD");
  const matrix m(shape_of(x), x.dimension() - 1);
  const auto labels = labels_of(ctx, m.rows);
  auto dx = zeros<Real>(shape_of(x));
  for (std::size_t r = 0; r < m.rows; ++r) {
    const std::size_t at = r * m.columns;
    const std::int64_t label = label_of(ctx, labels, r, m.columns);
    if (label < 0) continue;
    const std::size_t k = static_cast<std::size_t>(label);
    for (std::size_t c = 0; c < m.columns; ++c) {
      if (c == k) continue;
      const Real slope = d.flat(r) / static_cast<Real>(m.columns - 1) /
                         (1 + std::exp(x.flat(at + k) - x.flat(at + c)));
      dx.flat(at + c) += slope;
      dx.flat(at + k) -= slope;
    }
  }
  ctx.give("X@GRAD", std::move(dx));
}

/// Out = (1 - epsilon) * X + epsilon * PriorDist, or + epsilon / K.
template <class Real>
void label_smooth_forward(call_context<Real>& ctx) {
  auto x = ctx.real("X");
  const std::size_t k = x.shape().back();
  const Real epsilon = ctx.real_attribute("epsilon");
  for (std::size_t i = 0; i < x.size(); ++i) {
    const Real prior =
        ctx.has("PriorDist") ? ctx.real("PriorDist").flat(i % k) : 1 / static_cast<Real>(k);
    x.flat(i) = (1 - epsilon) * x.flat(i) + epsilon * prior;
  }
  ctx.give("Out", std::move(x));
}
template <class Real>
void label_smooth_gradient(call_context<Real>& ctx) {
  auto d = ctx.real("Out@GRAD");
  d *= 1 - ctx.real_attribute("epsilon");
  ctx.give("X@GRAD", std::move(d));
}

template <class Real>
void add_loss_kernels(kernel_table<Real>& table) {
  table["cross_entropy"] = cross_entropy_forward<Real>;
  table["cross_entropy_grad"] = cross_entropy_gradient<Real>;
  table["softmax_with_cross_entropy"] = softmax_with_cross_entropy_forward<Real>;
  table["softmax_with_cross_entropy_grad"] = softmax_with_cross_entropy_gradient<Real>;
  table["sigmoid_cross_entropy_with_logits"] = sigmoid_cross_entropy_forward<Real>;
  table["sigmoid_cross_entropy_with_logits_grad"] = sigmoid_cross_entropy_gradient<Real>;
  table["smooth_l1_loss"] = smooth_l1_forward<Real>;
  table["smooth_l1_loss_grad"] = smooth_l1_gradient<Real>;
  table["kldiv_loss"] = kldiv_forward<Real>;
  table["kldiv_loss_grad"] = kldiv_gradient<Real>;
  table["bpr_loss"] = bpr_forward<Real>;
  table["bpr_loss_grad"] = bpr_gradient<Real>;
  table["label_smooth"] = label_smooth_forward<Real>;
  table["label_smooth_grad"] = label_smooth_gradient<Real>;
}

}  // namespace lamina::inline LAMINA_ABI::kernel
