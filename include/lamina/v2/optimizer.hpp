// SPDX-License-Identifier: Apache-2.0
// lamina/v2/optimizer.hpp - the optimizers of PaddlePaddle v2, with their names and arguments
// there.
#pragma once

#include <lamina/core/config.hpp>

#include <lamina/optimizer/adadelta.hpp>
#include <lamina/optimizer/adagrad.hpp>
#include <lamina/optimizer/adam.hpp>
#include <lamina/optimizer/adamax.hpp>
#include <lamina/optimizer/decayed_adagrad.hpp>
#include <lamina/optimizer/momentum.hpp>
#include <lamina/optimizer/rmsprop.hpp>
#include <lamina/optimizer/sgd.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace v2::optimizer {

/// Returns the regularizer that penalises the squares of parameters (weight decay). v2:
/// optimizer.L2Regularization.
constexpr regularizer L2Regularization(float rate) { return l2_decay(rate); }

// Each function takes the arguments of v2 by name, with the defaults of v2, and returns an
// optimizer of lamina. In lamina, gradients are those of the cost that the program returns, which
// is usually a mean over the mini-batch. v2 sums gradients over the mini-batch, so a learning rate
// of 0.1 / 128 there, for mini-batches of 128 samples, corresponds to 0.1 here.

/// The arguments that all optimizers have.
struct settings {
  lamina::optimizer::learning_rate learning_rate = 1e-3f;
  regularizer regularization{};
  float gradient_clipping_threshold = 0;  // largest absolute value of a gradient; 0: no limit
};

namespace detail {
template <class Opt, class Attr>
constexpr Opt with_settings(Opt made, const Attr& attr) {
  made.learning_rate = attr.learning_rate;
  made.regularization = attr.regularization;
  if (attr.gradient_clipping_threshold > 0)
    made.clip = clip_by_value(attr.gradient_clipping_threshold);
  return made;
}
}  // namespace detail

/// Arguments of SGD.
using SGD_attr = settings;
/// Returns the optimizer of gradient descent. The design document of PaddlePaddle: optimizer.SGD.
constexpr lamina::optimizer::sgd SGD(const SGD_attr& attr = {}) {
  return detail::with_settings(lamina::optimizer::sgd{}, attr);
}
/// The optimizer of v2::train. The design document of PaddlePaddle: optimizer.Default.
inline constexpr lamina::optimizer::sgd Default = lamina::optimizer::default_sgd;

/// Arguments of Momentum.
struct momentum_attr {
  float momentum = 0;
  lamina::optimizer::learning_rate learning_rate = 1e-3f;
  regularizer regularization{};
  float gradient_clipping_threshold = 0;
};
/// Returns the optimizer of gradient descent with momentum. v2: optimizer.Momentum.
constexpr lamina::optimizer::momentum Momentum(const momentum_attr& attr = {}) {
  lamina::optimizer::momentum made;
  made.momentum = attr.momentum;
  return detail::with_settings(made, attr);
}

/// Arguments of Adam and Adamax.
struct adam_attr {
  float beta1 = 0.9f, beta2 = 0.999f;
  float epsilon = 1e-8f;
  lamina::optimizer::learning_rate learning_rate = 1e-3f;
  regularizer regularization{};
  float gradient_clipping_threshold = 0;
};
/// Returns the optimizer Adam. v2: optimizer.Adam.
constexpr lamina::optimizer::adam Adam(const adam_attr& attr = {}) {
  lamina::optimizer::adam made;
  made.beta1 = attr.beta1;
  made.beta2 = attr.beta2;
  made.epsilon = attr.epsilon;
  return detail::with_settings(made, attr);
}
/// Returns the optimizer Adamax. v2: optimizer.Adamax.
constexpr lamina::optimizer::adamax Adamax(const adam_attr& attr = {}) {
  lamina::optimizer::adamax made;
  made.beta1 = attr.beta1;
  made.beta2 = attr.beta2;
  made.epsilon = attr.epsilon;
  return detail::with_settings(made, attr);
}

/// Returns the optimizer AdaGrad. v2: optimizer.AdaGrad.
constexpr lamina::optimizer::adagrad AdaGrad(const settings& attr = {}) {
  return detail::with_settings(lamina::optimizer::adagrad{}, attr);
}

/// Arguments of DecayedAdaGrad, AdaDelta and RMSProp.
struct rho_attr {
  float rho = 0.95f;
  float epsilon = 1e-6f;
  lamina::optimizer::learning_rate learning_rate = 1e-3f;
  regularizer regularization{};
  float gradient_clipping_threshold = 0;
};
/// Returns the optimizer AdaGrad with decay. v2: optimizer.DecayedAdaGrad.
constexpr lamina::optimizer::decayed_adagrad DecayedAdaGrad(const rho_attr& attr = {}) {
  lamina::optimizer::decayed_adagrad made;
  made.decay = attr.rho;
  made.epsilon = attr.epsilon;
  return detail::with_settings(made, attr);
}
/// Returns the optimizer AdaDelta. As in Fluid, `learning_rate` has no effect. v2:
/// optimizer.AdaDelta.
constexpr lamina::optimizer::adadelta AdaDelta(const rho_attr& attr = {}) {
  lamina::optimizer::adadelta made;
  made.rho = attr.rho;
  made.epsilon = attr.epsilon;
  return detail::with_settings(made, attr);
}
/// Returns the optimizer RMSProp. v2: optimizer.RMSProp.
constexpr lamina::optimizer::rmsprop RMSProp(const rho_attr& attr = {}) {
  lamina::optimizer::rmsprop made;
  made.rho = attr.rho;
  made.epsilon = attr.epsilon;
  return detail::with_settings(made, attr);
}

}}}  // namespace lamina::v2::optimizer
