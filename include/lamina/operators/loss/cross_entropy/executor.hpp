// SPDX-License-Identifier: Apache-2.0
// lamina/operators/loss/cross_entropy/executor.hpp - the cross entropy between probabilities or
// logits and labels.
#pragma once

#include <lamina/core/config.hpp>

#include <algorithm>
#include <cmath>

#include <lamina/operators/activation/softmax/executor.hpp>
#include <lamina/operators/loss/executor.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace kernel {

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

/// dx = -dy * label / x. A label that is a class number counts as a distribution with 1 for this
/// class.
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

/// Computes Softmax and Loss = log sum e^(x - max) - (x - max)[label]. With soft labels, Loss is
/// the sum of the costs of all classes, weighted by the labels.
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
        if (const Real probability = ctx.real("Label").flat(r * m.columns + c); probability != 0)
          loss.flat(r) += probability * (log_sum - (row[c] - most));
    } else {
      const std::int64_t k = label_of(ctx, labels, r, m.columns);
      if (k >= 0) loss.flat(r) = log_sum - (row[k] - most);
    }
  }
  auto softmax = softmax_of<Real>(x, x.dimension() - 1);
  ctx.give("Softmax", std::move(softmax));
  ctx.give("Loss", std::move(loss));
}

/// dx = dy * (softmax - label), where a class number counts as a distribution with 1 for this
/// class; 0 in a row whose label is ignore_index. With soft labels, which need not add up to 1, dx
/// = dy * (softmax * sum label - label).
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

template <class Real>
void add_cross_entropy_kernels(kernel_table<Real>& table) {
  table["cross_entropy"] = cross_entropy_forward<Real>;
  table["cross_entropy_grad"] = cross_entropy_gradient<Real>;
  table["softmax_with_cross_entropy"] = softmax_with_cross_entropy_forward<Real>;
  table["softmax_with_cross_entropy_grad"] = softmax_with_cross_entropy_gradient<Real>;
}

}}}  // namespace lamina::kernel
