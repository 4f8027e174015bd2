// SPDX-License-Identifier: Apache-2.0
// lamina/operators/update/executor.hpp - Fluid's update operators, computed directly from their
// equations.
#pragma once

#include <lamina/core/config.hpp>

#include <algorithm>
#include <cmath>
#include <limits>

#include <lamina/core/numbers/math.hpp>
#include <lamina/operators/elementwise/clip/executor.hpp>
#include <lamina/operators/norm/norm/executor.hpp>
#include <lamina/optimizer/step_operators.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace kernel {

// The kernels accept three forms of update operators. In Fluid's form, the learning rate is a
// variable, and separate operators clip gradients and add weight decay. In a training program of
// lamina, the learning rate and the numbers for clipping and decay are attributes. In a program
// that trains itself, the learning rate and the factor of gradient clipping are variables.

template <class Real>
Real learning_rate_of(const call_context<Real>& ctx) {
  if (ctx.has("LearningRate")) return ctx.real("LearningRate").flat(0);
  const Real recorded = ctx.real_attribute("learning_rate");
  return ctx.has("StepLearningRate") ? ctx.real("StepLearningRate").flat(0) * recorded : recorded;
}

/// StepOut = Step + 1; Out = the learning rate of step StepOut.
template <class Real>
void decayed_learning_rate_forward(call_context<Real>& ctx) {
  const std::int64_t step = ctx.integers("Step").flat(0) + 1;
  const auto boundaries = ctx.integer_list("boundaries");
  const auto values = ctx.real_list("values");
  ctx.give(
      "Out",
      tensor::filled<float>(
          {1},
          optimizer::rate_of_step(
              step,
              [&](int i) {
                return ctx.attribute(
                    operators::decayed_learning_rate::attributes[static_cast<std::size_t>(i)].name);
              },
              static_cast<int>(values.size()),
              [&](int i) { return boundaries[static_cast<std::size_t>(i)]; },
              [&](int i) { return values[static_cast<std::size_t>(i)]; })));
  ctx.give("StepOut", tensor::filled<std::int64_t>({1}, step));
}

/// Out = min(1, max_norm / n), where n is the Euclidean norm of all elements of all gradients.
template <class Real>
void gradient_scale_forward(call_context<Real>& ctx) {
  square_sum squares = 0;
  for (int i = 0; i < ctx.count("X"); ++i) {
    const square_sum norm = euclidean_norm<Real>(ctx.real("X", i));
    squares += norm * norm;
  }
  const Real norm = static_cast<Real>(std::sqrt(squares)),
             limit = ctx.real_attribute("max_norm", 1);
  ctx.give("Out", tensor::filled<Real>({1}, norm > limit ? limit / norm : Real(1)));
}

/// Whether the gradient stores the row of element i. A dense gradient stores all rows; a sparse
/// gradient (selected_rows) stores some.
template <class Real>
bool has_row(const call_context<Real>& ctx, std::size_t i) {
  const auto* const rows = ctx.selected_rows("Grad");
  const auto& p = ctx.real("Param");
  return rows == nullptr || rows->count(static_cast<std::int64_t>(i / (p.size() / p.shape()[0])));
}

/// Returns the gradient, prepared according to the operator's attributes: scales it, then clips it,
/// then adds the gradient of the weight decay. Rows that a sparse gradient does not store are
/// zeros, which clipping does not change.
template <class Real>
xt::xarray<Real> gradient_for(const call_context<Real>& ctx) {
  auto g = ctx.real("Grad");
  const auto& p = ctx.real("Param");
  if (g.size() != p.size())
    ctx.fail("expected a gradient of the shape " + to_string(shape_of(p)) + ", found " +
             to_string(shape_of(g)));
  const Real most = std::numeric_limits<Real>::infinity();
  const Real scale = ctx.has("GradientScale") ? ctx.real("GradientScale").flat(0)
                                              : ctx.real_attribute("gradient_scale", 1);
  const Real low = ctx.real_attribute("clip_low", -most),
             high = ctx.real_attribute("clip_high", most);
  const Real l1 = ctx.real_attribute("l1_decay"), l2 = ctx.real_attribute("l2_decay");
  for (std::size_t i = 0; i < g.size(); ++i) {
    const Real x = p.flat(i), sign = x > 0 ? Real(1) : (x < 0 ? Real(-1) : Real(0));
    if (has_row(ctx, i)) g.flat(i) = (std::min)((std::max)(g.flat(i) * scale, low), high);
    g.flat(i) += l1 * sign + l2 * x;
  }
  return g;
}

/// p -= lr * g.
template <class Real>
void sgd_update(call_context<Real>& ctx) {
  auto p = ctx.real("Param");
  const auto g = gradient_for(ctx);
  p -= learning_rate_of(ctx) * g;
  ctx.give("ParamOut", std::move(p));
}

/// v = mu v + g; p -= lr v, or with Nesterov's rule p -= lr (g + mu v).
template <class Real>
void momentum_update(call_context<Real>& ctx) {
  auto p = ctx.real("Param"), v = ctx.real("Velocity");
  const auto g = gradient_for(ctx);
  const Real lr = learning_rate_of(ctx), mu = ctx.real_attribute("mu");
  v = mu * v + g;
  if (ctx.flag("use_nesterov"))
    p -= lr * (g + mu * v);
  else
    p -= lr * v;
  ctx.give("ParamOut", std::move(p));
  ctx.give("VelocityOut", std::move(v));
}

/// l = lr coeff ||p|| / (||g|| + decay ||p||) if ||p|| and ||g|| are above 0, else lr; v = mu v + l
/// (g + decay p); p -= v. Source: You et al. 2017.
template <class Real>
void lars_momentum_update(call_context<Real>& ctx) {
  auto p = ctx.real("Param"), v = ctx.real("Velocity");
  const auto g = gradient_for(ctx);
  const Real mu = ctx.real_attribute("mu"), decay = ctx.real_attribute("lars_weight_decay", 0.0005);
  const Real pn = static_cast<Real>(euclidean_norm<Real>(p)),
             gn = static_cast<Real>(euclidean_norm<Real>(g));
  Real local = learning_rate_of(ctx);
  if (pn > 0 && gn > 0) local *= ctx.real_attribute("lars_coeff", 0.001) * pn / (gn + decay * pn);
  v = mu * v + local * (g + decay * p);
  p -= v;
  ctx.give("ParamOut", std::move(p));
  ctx.give("VelocityOut", std::move(v));
}

/// m = m + g^2, or decay m + (1 - decay) g^2; p -= lr g / (sqrt m + epsilon).
template <class Real, bool Decayed>
void adagrad_update(call_context<Real>& ctx) {
  auto p = ctx.real("Param"), m = ctx.real("Moment");
  const auto g = gradient_for(ctx);
  const Real lr = learning_rate_of(ctx), epsilon = ctx.real_attribute("epsilon", 1e-6);
  const Real decay = ctx.real_attribute("decay", 0.95);
  for (std::size_t i = 0; i < p.size(); ++i) {
    const Real square = g.flat(i) * g.flat(i);
    m.flat(i) = Decayed ? decay * m.flat(i) + (1 - decay) * square : m.flat(i) + square;
    p.flat(i) -= lr * g.flat(i) / math::as_divisor(std::sqrt(m.flat(i)) + epsilon);
  }
  ctx.give("ParamOut", std::move(p));
  ctx.give("MomentOut", std::move(m));
}

/// m1 = b1 m1 + (1 - b1) g; m2 = b2 m2 + (1 - b2) g^2; p -= lr sqrt(1 - b2^t) / (1 - b1^t) m1 /
/// (sqrt m2 + epsilon). Source: Kingma and Ba 2015. Without Beta1Pow and Beta2Pow, the learning
/// rate already contains the factor with b1^t and b2^t. With lazy_mode, rows that a sparse gradient
/// does not store do not change, unless weight decay makes the gradient dense.
template <class Real>
void adam_update(call_context<Real>& ctx) {
  auto p = ctx.real("Param"), m1 = ctx.real("Moment1"), m2 = ctx.real("Moment2");
  const auto g = gradient_for(ctx);
  const Real b1 = ctx.real_attribute("beta1", 0.9), b2 = ctx.real_attribute("beta2", 0.999);
  const Real epsilon = ctx.real_attribute("epsilon", 1e-8);
  const bool lazy = ctx.flag("lazy_mode") && ctx.real_attribute("l1_decay") == 0 &&
                    ctx.real_attribute("l2_decay") == 0;
  Real rate = learning_rate_of(ctx);
  if (ctx.has("Beta1Pow"))
    rate *= std::sqrt(1 - ctx.real("Beta2Pow").flat(0)) / (1 - ctx.real("Beta1Pow").flat(0));
  for (std::size_t i = 0; i < p.size(); ++i) {
    if (lazy && !has_row(ctx, i)) continue;
    const Real grad = g.flat(i);
    m1.flat(i) = b1 * m1.flat(i) + (1 - b1) * grad;
    m2.flat(i) = b2 * m2.flat(i) + (1 - b2) * grad * grad;
    p.flat(i) -= rate * m1.flat(i) / math::as_divisor(std::sqrt(m2.flat(i)) + epsilon);
  }
  if (ctx.has("Beta1Pow")) {
    auto pow1 = ctx.real("Beta1Pow"), pow2 = ctx.real("Beta2Pow");
    ctx.give("Beta1PowOut", pow1 *= b1);
    ctx.give("Beta2PowOut", pow2 *= b2);
  }
  ctx.give("ParamOut", std::move(p));
  ctx.give("Moment1Out", std::move(m1));
  ctx.give("Moment2Out", std::move(m2));
}

/// m = b1 m + (1 - b1) g; u = max(|g|, b2 u + epsilon); p -= lr / (1 - b1^t) m / u. Without
/// Beta1Pow, the learning rate already contains the factor with b1^t.
template <class Real>
void adamax_update(call_context<Real>& ctx) {
  auto p = ctx.real("Param"), m = ctx.real("Moment"), u = ctx.real("InfNorm");
  const auto g = gradient_for(ctx);
  const Real b1 = ctx.real_attribute("beta1", 0.9), b2 = ctx.real_attribute("beta2", 0.999);
  const Real epsilon = ctx.real_attribute("epsilon", 1e-8);
  Real rate = learning_rate_of(ctx);
  if (ctx.has("Beta1Pow")) rate /= 1 - ctx.real("Beta1Pow").flat(0);
  for (std::size_t i = 0; i < p.size(); ++i) {
    m.flat(i) = b1 * m.flat(i) + (1 - b1) * g.flat(i);
    u.flat(i) = (std::max)(std::abs(g.flat(i)), b2 * u.flat(i) + epsilon);
    p.flat(i) -= rate * m.flat(i) / math::as_divisor(u.flat(i));
  }
  ctx.give("ParamOut", std::move(p));
  ctx.give("MomentOut", std::move(m));
  ctx.give("InfNormOut", std::move(u));
}

/// a = rho a + (1 - rho) g^2; d = -sqrt((u + epsilon) / (a + epsilon)) g; u = rho u + (1 - rho)
/// d^2; p += d. The learning rate has no effect. Source: Zeiler 2012.
template <class Real>
void adadelta_update(call_context<Real>& ctx) {
  auto p = ctx.real("Param"), a = ctx.real("AvgSquaredGrad"), u = ctx.real("AvgSquaredUpdate");
  const auto g = gradient_for(ctx);
  const Real rho = ctx.real_attribute("rho", 0.95), epsilon = ctx.real_attribute("epsilon", 1e-6);
  for (std::size_t i = 0; i < p.size(); ++i) {
    a.flat(i) = rho * a.flat(i) + (1 - rho) * g.flat(i) * g.flat(i);
    const Real d =
        -std::sqrt((u.flat(i) + epsilon) / math::as_divisor(a.flat(i) + epsilon)) * g.flat(i);
    u.flat(i) = rho * u.flat(i) + (1 - rho) * d * d;
    p.flat(i) += d;
  }
  ctx.give("ParamOut", std::move(p));
  ctx.give("AvgSquaredGradOut", std::move(a));
  ctx.give("AvgSquaredUpdateOut", std::move(u));
}

/// s = decay s + (1 - decay) g^2; v = momentum v + lr g / sqrt(s + epsilon); p -= v. With
/// `centered`, c = decay c + (1 - decay) g, and sqrt(max(s - c^2, 0) + epsilon) replaces the square
/// root.
template <class Real>
void rmsprop_update(call_context<Real>& ctx) {
  auto p = ctx.real("Param"), s = ctx.real("MeanSquare"), v = ctx.real("Moment");
  const auto g = gradient_for(ctx);
  const bool centered = ctx.flag("centered");
  auto c = centered ? ctx.real("MeanGrad") : zeros<Real>(shape_of(p));
  const Real lr = learning_rate_of(ctx), epsilon = ctx.real_attribute("epsilon", 1e-10);
  const Real decay = ctx.real_attribute("decay", 0.9), mu = ctx.real_attribute("momentum");
  for (std::size_t i = 0; i < p.size(); ++i) {
    const Real grad = g.flat(i);
    s.flat(i) = decay * s.flat(i) + (1 - decay) * grad * grad;
    if (centered) c.flat(i) = decay * c.flat(i) + (1 - decay) * grad;
    const Real variance = (std::max)(s.flat(i) - c.flat(i) * c.flat(i), Real(0));
    v.flat(i) = mu * v.flat(i) + lr * grad / math::as_divisor(std::sqrt(variance + epsilon));
    p.flat(i) -= v.flat(i);
  }
  ctx.give("ParamOut", std::move(p));
  ctx.give("MomentOut", std::move(v));
  ctx.give("MeanSquareOut", std::move(s));
  if (centered) ctx.give("MeanGradOut", std::move(c));
}

/// n' = n + g^2; z += g - (n'^-power - n^-power) / lr p; y = n'^-power / lr + 2 l2;
/// p = (sign(z) l1 - z) / y if |z| > l1, else 0. Source: McMahan et al. 2013.
template <class Real>
void ftrl_update(call_context<Real>& ctx) {
  auto p = ctx.real("Param"), n = ctx.real("SquaredAccumulator"), z = ctx.real("LinearAccumulator");
  const auto g = gradient_for(ctx);
  const Real lr = learning_rate_of(ctx), l1 = ctx.real_attribute("l1");
  const Real l2 = ctx.real_attribute("l2"), power = ctx.real_attribute("lr_power", -0.5);
  for (std::size_t i = 0; i < p.size(); ++i) {
    const Real larger = n.flat(i) + g.flat(i) * g.flat(i);
    const Real after = std::pow(larger, -power), before = std::pow(n.flat(i), -power);
    z.flat(i) += g.flat(i) - (after - before) / lr * p.flat(i);
    const Real y = after / lr + 2 * l2, x = z.flat(i);
    p.flat(i) = std::abs(x) > l1 ? ((x > 0 ? l1 : -l1) - x) / y : Real(0);
    n.flat(i) = larger;
  }
  ctx.give("ParamOut", std::move(p));
  // These outputs have two names: in Fluid a shortened one, in lamina's training programs the name
  // of the input followed by "Out".
  ctx.give("SquaredAccumOut", n);
  ctx.give("LinearAccumOut", z);
  ctx.give("SquaredAccumulatorOut", std::move(n));
  ctx.give("LinearAccumulatorOut", std::move(z));
}

/// m1, m2 as in adam; u = m1 / (sqrt m2 + epsilon) + decay p; p -= lr ||p|| / ||u|| u. If one of
/// the norms is 0, their quotient counts as 1. Source: You et al. 2020.
template <class Real>
void lamb_update(call_context<Real>& ctx) {
  auto p = ctx.real("Param"), m1 = ctx.real("Moment1"), m2 = ctx.real("Moment2");
  const auto g = gradient_for(ctx);
  const Real b1 = ctx.real_attribute("beta1", 0.9), b2 = ctx.real_attribute("beta2", 0.999);
  const Real epsilon = ctx.real_attribute("epsilon", 1e-6);
  const Real decay = ctx.real_attribute("weight_decay", 0.01);
  auto u = zeros<Real>(shape_of(p));
  for (std::size_t i = 0; i < p.size(); ++i) {
    const Real grad = g.flat(i);
    m1.flat(i) = b1 * m1.flat(i) + (1 - b1) * grad;
    m2.flat(i) = b2 * m2.flat(i) + (1 - b2) * grad * grad;
    u.flat(i) = m1.flat(i) / math::as_divisor(std::sqrt(m2.flat(i)) + epsilon) + decay * p.flat(i);
  }
  const Real pn = static_cast<Real>(euclidean_norm<Real>(p)),
             un = static_cast<Real>(euclidean_norm<Real>(u));
  p -= learning_rate_of(ctx) * (pn > 0 && un > 0 ? pn / un : Real(1)) * u;
  ctx.give("ParamOut", std::move(p));
  ctx.give("Moment1Out", std::move(m1));
  ctx.give("Moment2Out", std::move(m2));
}

/// z = p - lr g or, if Adaptive, m += g^2 and z = p - lr g / sqrt(m); then p = sign(z) max(|z| - lr
/// l1, 0) / (1 + lr l2). Source: Duchi and Singer 2009.
template <class Real, bool Adaptive>
void proximal_update(call_context<Real>& ctx) {
  auto p = ctx.real("Param");
  auto m = Adaptive ? ctx.real("Moment") : zeros<Real>(shape_of(p));
  const auto g = gradient_for(ctx);
  const Real lr = learning_rate_of(ctx), l1 = ctx.real_attribute("l1");
  const Real l2 = ctx.real_attribute("l2");
  for (std::size_t i = 0; i < p.size(); ++i) {
    m.flat(i) += g.flat(i) * g.flat(i);
    // If m is 0, all gradients so far were 0, and the step must be 0, not 0 / 0.
    const Real root = Adaptive && m.flat(i) > 0 ? std::sqrt(m.flat(i)) : Real(1);
    const Real z = p.flat(i) - lr * g.flat(i) / root;
    const Real size = (std::max)(std::abs(z) - lr * l1, Real(0)) / (1 + lr * l2);
    p.flat(i) = z < 0 ? -size : size;
  }
  ctx.give("ParamOut", std::move(p));
  if (Adaptive) ctx.give("MomentOut", std::move(m));
}

template <class Real>
void add_optimizer_kernels(kernel_table<Real>& table) {
  table["decayed_learning_rate"] = decayed_learning_rate_forward<Real>;
  table["gradient_scale"] = gradient_scale_forward<Real>;
  table["sgd"] = sgd_update<Real>;
  table["momentum"] = momentum_update<Real>;
  table["lars_momentum"] = lars_momentum_update<Real>;
  table["adagrad"] = adagrad_update<Real, false>;
  table["decayed_adagrad"] = adagrad_update<Real, true>;
  table["adam"] = adam_update<Real>;
  table["adamax"] = adamax_update<Real>;
  table["adadelta"] = adadelta_update<Real>;
  table["rmsprop"] = rmsprop_update<Real>;
  table["ftrl"] = ftrl_update<Real>;
  table["lamb"] = lamb_update<Real>;
  table["proximal_gd"] = proximal_update<Real, false>;
  table["proximal_adagrad"] = proximal_update<Real, true>;
}

}}}  // namespace lamina::kernel
