// SPDX-License-Identifier: Apache-2.0
// lamina/operators/loss/row/executor.hpp - the operators smooth_l1_loss, kldiv_loss, bpr_loss and
// label_smooth, which compute on whole rows.
#pragma once

#include <lamina/core/config.hpp>

#include <cmath>

#include <lamina/core/numbers/math.hpp>
#include <lamina/executor/call_context.hpp>
#include <lamina/executor/kernel_shape.hpp>
#include <lamina/operators/loss/executor.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace kernel {

/// Diff = InsideWeight * (X - Y), Out = the sum of OutsideWeight * smooth(Diff) over each row.
template <class Real>
void smooth_l1_forward(call_context<Real>& ctx) {
  auto diff = ctx.real("X");
  diff -= ctx.real("Y");
  // An element with the weight 0 has no effect, even if the element is infinite.
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

/// dx = dy * InsideWeight * OutsideWeight * (sigma^2 * diff if |diff| < 1 / sigma^2, else the sign
/// of diff).
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

/// Returns the number by which the sum of the costs of kldiv_loss is divided.
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

/// Out = the sum of target * (log target - x), divided by kldiv_divisor(); without a reduction,
/// each term.
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

/// Y = the mean over j != label of log(1 + e^(x_j - x_label)).
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
      const Real grad = d.flat(r) / static_cast<Real>(m.columns - 1) /
                        (1 + std::exp(x.flat(at + k) - x.flat(at + c)));
      dx.flat(at + c) += grad;
      dx.flat(at + k) -= grad;
    }
  }
  ctx.give("X@GRAD", std::move(dx));
}

/// Out = (1 - epsilon) * X + epsilon * PriorDist; without PriorDist, epsilon / K replaces the last
/// term.
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
void add_row_loss_kernels(kernel_table<Real>& table) {
  table["smooth_l1_loss"] = smooth_l1_forward<Real>;
  table["smooth_l1_loss_grad"] = smooth_l1_gradient<Real>;
  table["kldiv_loss"] = kldiv_forward<Real>;
  table["kldiv_loss_grad"] = kldiv_gradient<Real>;
  table["bpr_loss"] = bpr_forward<Real>;
  table["bpr_loss_grad"] = bpr_gradient<Real>;
  table["label_smooth"] = label_smooth_forward<Real>;
  table["label_smooth_grad"] = label_smooth_gradient<Real>;
}

}}}  // namespace lamina::kernel
