// SPDX-License-Identifier: Apache-2.0
// The optimizers of v2 are lamina's, with v2's names and defaults.
#include <catch2/catch.hpp>

#include <lamina/v2/optimizer.hpp>

namespace paddle = lamina::v2;

namespace {

/// The learning rate, the penalty and the limit of gradients, in one text.
template <class Opt>
bool has_settings(const Opt& opt, float rate, float penalty, float limit) {
  const bool clips =
      opt.clip.kind == lamina::clip_kind::value && opt.clip.low == -limit && opt.clip.high == limit;
  const bool no_clip = opt.clip.kind == lamina::clip_kind::none;
  return opt.learning_rate.at(0) == rate && opt.regularization.coefficient == penalty &&
         (penalty == 0 || opt.regularization.kind == lamina::regularizer_kind::l2) &&
         (limit > 0 ? clips : no_clip);
}

template <class Make>
void check_settings(const Make& make) {
  CHECK(has_settings(make({}), 1e-3f, 0, 0));
  CHECK(has_settings(make({.learning_rate = 0.25f,
                           .regularization = paddle::optimizer::L2Regularization(0.5f),
                           .gradient_clipping_threshold = 2}),
                     0.25f, 0.5f, 2));
}

}  // namespace

TEST_CASE("each optimizer of v2 takes its settings and has v2's defaults") {
  namespace optimizer = paddle::optimizer;
  check_settings([](const optimizer::SGD_attr& a) { return optimizer::SGD(a); });
  check_settings([](const optimizer::momentum_attr& a) { return optimizer::Momentum(a); });
  check_settings([](const optimizer::adam_attr& a) { return optimizer::Adam(a); });
  check_settings([](const optimizer::adam_attr& a) { return optimizer::Adamax(a); });
  check_settings([](const optimizer::settings& a) { return optimizer::AdaGrad(a); });
  check_settings([](const optimizer::rho_attr& a) { return optimizer::DecayedAdaGrad(a); });
  check_settings([](const optimizer::rho_attr& a) { return optimizer::AdaDelta(a); });
  check_settings([](const optimizer::rho_attr& a) { return optimizer::RMSProp(a); });
  CHECK(optimizer::Momentum().momentum == 0);
  CHECK(optimizer::Momentum({.momentum = 0.9f}).momentum == 0.9f);
  CHECK(optimizer::Adam({.beta1 = 0.5f, .beta2 = 0.25f, .epsilon = 1}).beta1 == 0.5f);
  CHECK(optimizer::Adam({.beta1 = 0.5f, .beta2 = 0.25f, .epsilon = 1}).beta2 == 0.25f);
  CHECK(optimizer::Adamax({.beta2 = 0.25f, .epsilon = 1}).epsilon == 1);
  CHECK(optimizer::DecayedAdaGrad({.rho = 0.5f}).decay == 0.5f);
  CHECK(optimizer::AdaDelta({.rho = 0.5f, .epsilon = 2}).rho == 0.5f);
  CHECK(optimizer::RMSProp({.rho = 0.5f, .epsilon = 2}).epsilon == 2);
  CHECK(optimizer::Default.learning_rate.at(0) == 0.01f);
}

TEST_CASE("schedules of v2 count samples") {
  const auto poly = paddle::optimizer::Momentum(
      {.learning_rate =
           lamina::schedule::v2::poly{.learning_rate = 1, .a = 0.01, .b = 0.5, .batch_size = 100}});
  CHECK(poly.learning_rate.at(0) == Approx(1 / std::sqrt(2.0)));
  CHECK(poly.learning_rate.at(2) == Approx(0.5));
}
