// SPDX-License-Identifier: Apache-2.0
// lamina/operators/update/definition_fluid.hpp - update operators in Fluid's own form, for imported
// programs: the learning rate and the powers of beta1 and beta2 are variables, and other operators
// clip the gradients and add weight decay. These operators have the same kernels as lamina's update
// operators (operators/update/executor.hpp). In the equations, p is Param, g is Grad and lr is
// LearningRate.
#pragma once

#include <lamina/core/config.hpp>

#include <lamina/operators/operator_definition.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace fluid {

/// p -= lr g. Fluid: sgd.
struct sgd : operator_definition {
  static constexpr const char* type = "sgd";
  static constexpr std::array<slot_desc, 3> inputs{{{"Param"}, {"LearningRate"}, {"Grad"}}};
  static constexpr std::array<slot_desc, 1> outputs{{{"ParamOut"}}};
};

/// v = mu v + g, where v is Velocity; p -= lr v or, with use_nesterov, p -= lr (g + mu v). Fluid:
/// momentum.
struct momentum : operator_definition {
  static constexpr const char* type = "momentum";
  static constexpr std::array<slot_desc, 4> inputs{
      {{"Param"}, {"Grad"}, {"Velocity"}, {"LearningRate"}}};
  static constexpr std::array<slot_desc, 2> outputs{{{"ParamOut"}, {"VelocityOut"}}};
  static constexpr std::array<attribute_desc, 2> attributes{
      {{"mu", attribute_type::real, 0}, {"use_nesterov", attribute_type::boolean, 0}}};
};

/// l = lr lars_coeff ||p|| / (||g|| + d ||p||) if both norms are above 0, else lr, where d is
/// lars_weight_decay; v = mu v + l (g + d p); p -= v. Fluid: lars_momentum.
struct lars_momentum : momentum {
  static constexpr const char* type = "lars_momentum";
  static constexpr std::array<attribute_desc, 3> attributes{
      {{"mu", attribute_type::real, 0},
       {"lars_coeff", attribute_type::real, 0.001},
       {"lars_weight_decay", attribute_type::real, 0.0005}}};
};

/// m = m + g^2, where m is Moment; p -= lr g / (sqrt m + epsilon). Fluid: adagrad.
struct adagrad : operator_definition {
  static constexpr const char* type = "adagrad";
  static constexpr std::array<slot_desc, 4> inputs{
      {{"Param"}, {"Grad"}, {"Moment"}, {"LearningRate"}}};
  static constexpr std::array<slot_desc, 2> outputs{{{"ParamOut"}, {"MomentOut"}}};
  static constexpr std::array<attribute_desc, 1> attributes{
      {{"epsilon", attribute_type::real, 1e-6}}};
};

/// m = decay m + (1 - decay) g^2, where m is Moment; p -= lr g / (sqrt m + epsilon). Fluid:
/// decayed_adagrad.
struct decayed_adagrad : adagrad {
  static constexpr const char* type = "decayed_adagrad";
  static constexpr std::array<attribute_desc, 2> attributes{
      {{"decay", attribute_type::real, 0.95}, {"epsilon", attribute_type::real, 1e-6}}};
};

/// m1 = beta1 m1 + (1 - beta1) g; m2 = beta2 m2 + (1 - beta2) g^2; p -= lr sqrt(1 - Beta2Pow) / (1
/// - Beta1Pow) m1 / (sqrt m2 + epsilon), where m1 and m2 are Moment1 and Moment2. Beta1PowOut and
/// Beta2PowOut are the powers of the next step. Fluid: adam.
struct adam : operator_definition {
  static constexpr const char* type = "adam";
  static constexpr std::array<slot_desc, 7> inputs{{{"Param"},
                                                    {"Grad"},
                                                    {"LearningRate"},
                                                    {"Moment1"},
                                                    {"Moment2"},
                                                    {"Beta1Pow"},
                                                    {"Beta2Pow"}}};
  static constexpr std::array<slot_desc, 5> outputs{
      {{"ParamOut"}, {"Moment1Out"}, {"Moment2Out"}, {"Beta1PowOut"}, {"Beta2PowOut"}}};
  static constexpr std::array<attribute_desc, 4> attributes{
      {{"beta1", attribute_type::real, 0.9},
       {"beta2", attribute_type::real, 0.999},
       {"epsilon", attribute_type::real, 1e-8},
       {"lazy_mode", attribute_type::boolean, 0}}};
};

/// u = m1 / (sqrt m2 + epsilon) + weight_decay p, with m1 and m2 as in adam; p -= lr ||p|| / ||u||
/// u. Fluid: lamb.
struct lamb : adam {
  static constexpr const char* type = "lamb";
  static constexpr std::array<attribute_desc, 4> attributes{
      {{"weight_decay", attribute_type::real, 0.01},
       {"beta1", attribute_type::real, 0.9},
       {"beta2", attribute_type::real, 0.999},
       {"epsilon", attribute_type::real, 1e-6}}};
};

/// m = beta1 m + (1 - beta1) g; u = max(|g|, beta2 u + epsilon); p -= lr / (1 - Beta1Pow) m / u,
/// where m is Moment and u is InfNorm. A separate scale operator updates Beta1Pow. Fluid: adamax.
struct adamax : operator_definition {
  static constexpr const char* type = "adamax";
  static constexpr std::array<slot_desc, 6> inputs{
      {{"Param"}, {"Grad"}, {"LearningRate"}, {"Moment"}, {"InfNorm"}, {"Beta1Pow"}}};
  static constexpr std::array<slot_desc, 3> outputs{{{"ParamOut"}, {"MomentOut"}, {"InfNormOut"}}};
  static constexpr std::array<attribute_desc, 3> attributes{
      {{"beta1", attribute_type::real, 0.9},
       {"beta2", attribute_type::real, 0.999},
       {"epsilon", attribute_type::real, 1e-8}}};
};

/// a = rho a + (1 - rho) g^2; d = -sqrt((u + epsilon) / (a + epsilon)) g; u = rho u + (1 - rho)
/// d^2; p += d, where a is AvgSquaredGrad and u is AvgSquaredUpdate. The learning rate has no
/// effect. Fluid: adadelta.
struct adadelta : operator_definition {
  static constexpr const char* type = "adadelta";
  static constexpr std::array<slot_desc, 5> inputs{{{"Param"},
                                                    {"Grad"},
                                                    {"AvgSquaredGrad"},
                                                    {"AvgSquaredUpdate"},
                                                    {"LearningRate", false, true}}};
  static constexpr std::array<slot_desc, 3> outputs{
      {{"ParamOut"}, {"AvgSquaredGradOut"}, {"AvgSquaredUpdateOut"}}};
  static constexpr std::array<attribute_desc, 2> attributes{
      {{"rho", attribute_type::real, 0.95}, {"epsilon", attribute_type::real, 1e-6}}};
};

/// s = decay s + (1 - decay) g^2; v = momentum v + lr g / sqrt(s + epsilon); p -= v, where s is
/// MeanSquare and v is Moment; operators/update/executor.hpp has the equation for `centered`.
/// Fluid: rmsprop.
struct rmsprop : operator_definition {
  static constexpr const char* type = "rmsprop";
  static constexpr std::array<slot_desc, 6> inputs{{{"Param"},
                                                    {"MeanSquare"},
                                                    {"MeanGrad", false, true},
                                                    {"LearningRate"},
                                                    {"Grad"},
                                                    {"Moment"}}};
  static constexpr std::array<slot_desc, 4> outputs{
      {{"ParamOut"}, {"MomentOut"}, {"MeanSquareOut"}, {"MeanGradOut", false, true}}};
  static constexpr std::array<attribute_desc, 4> attributes{
      {{"epsilon", attribute_type::real, 1e-10},
       {"decay", attribute_type::real, 0.9},
       {"momentum", attribute_type::real, 0},
       {"centered", attribute_type::boolean, 0}}};
};

/// Follows the regularized leader; operators/update/executor.hpp has the equations. Fluid: ftrl.
struct ftrl : operator_definition {
  static constexpr const char* type = "ftrl";
  static constexpr std::array<slot_desc, 5> inputs{
      {{"Param"}, {"SquaredAccumulator"}, {"LinearAccumulator"}, {"Grad"}, {"LearningRate"}}};
  static constexpr std::array<slot_desc, 3> outputs{
      {{"ParamOut"}, {"SquaredAccumOut"}, {"LinearAccumOut"}}};
  static constexpr std::array<attribute_desc, 3> attributes{
      {{"l1", attribute_type::real, 0},
       {"l2", attribute_type::real, 0},
       {"lr_power", attribute_type::real, -0.5}}};
};

/// z = p - lr g; p = sign(z) max(|z| - lr l1, 0) / (1 + lr l2). Fluid: proximal_gd.
struct proximal_gd : operator_definition {
  static constexpr const char* type = "proximal_gd";
  static constexpr std::array<slot_desc, 3> inputs{{{"Param"}, {"Grad"}, {"LearningRate"}}};
  static constexpr std::array<slot_desc, 1> outputs{{{"ParamOut"}}};
  static constexpr std::array<attribute_desc, 2> attributes{
      {{"l1", attribute_type::real, 0}, {"l2", attribute_type::real, 0}}};
};

/// m = m + g^2, where m is Moment; z = p - lr g / sqrt(m); p = sign(z) max(|z| - lr l1, 0) / (1 +
/// lr l2). Fluid: proximal_adagrad.
struct proximal_adagrad : proximal_gd {
  static constexpr const char* type = "proximal_adagrad";
  static constexpr std::array<slot_desc, 4> inputs{
      {{"Param"}, {"Moment"}, {"Grad"}, {"LearningRate"}}};
  static constexpr std::array<slot_desc, 2> outputs{{{"ParamOut"}, {"MomentOut"}}};
};

using update_fluid_operators =
    operator_list<sgd, momentum, lars_momentum, adagrad, decayed_adagrad, adam, lamb, adamax,
                  adadelta, rmsprop, ftrl, proximal_gd, proximal_adagrad>;

}}}  // namespace lamina::fluid
