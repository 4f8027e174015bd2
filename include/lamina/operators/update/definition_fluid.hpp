// SPDX-License-Identifier: Apache-2.0
// lamina/operators/update/definition_fluid.hpp - update operators in Fluid's own form, for imported
// programs: the learning rate and the powers of betas are variables, and other operators prepare
// the gradients. They have the same kernels as lamina's update operators
// (operators/update/executor.hpp).
#pragma once

#include <lamina/core/config.hpp>

#include <lamina/operators/operator_definition.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace fluid {

/// p -= lr * g. Fluid: sgd.
struct sgd : operator_definition {
  static constexpr const char* type = "sgd";
  static constexpr std::array<slot_desc, 3> inputs{{{"Param"}, {"LearningRate"}, {"Grad"}}};
  static constexpr std::array<slot_desc, 1> outputs{{{"ParamOut"}}};
};

/// Fluid: momentum.
struct momentum : operator_definition {
  static constexpr const char* type = "momentum";
  static constexpr std::array<slot_desc, 4> inputs{
      {{"Param"}, {"Grad"}, {"Velocity"}, {"LearningRate"}}};
  static constexpr std::array<slot_desc, 2> outputs{{{"ParamOut"}, {"VelocityOut"}}};
  static constexpr std::array<attribute_desc, 2> attributes{
      {{"mu", attribute_type::real, 0}, {"use_nesterov", attribute_type::boolean, 0}}};
};

/// Fluid: lars_momentum.
struct lars_momentum : momentum {
  static constexpr const char* type = "lars_momentum";
  static constexpr std::array<attribute_desc, 3> attributes{
      {{"mu", attribute_type::real, 0},
       {"lars_coeff", attribute_type::real, 0.001},
       {"lars_weight_decay", attribute_type::real, 0.0005}}};
};

/// Fluid: adagrad.
struct adagrad : operator_definition {
  static constexpr const char* type = "adagrad";
  static constexpr std::array<slot_desc, 4> inputs{
      {{"Param"}, {"Grad"}, {"Moment"}, {"LearningRate"}}};
  static constexpr std::array<slot_desc, 2> outputs{{{"ParamOut"}, {"MomentOut"}}};
  static constexpr std::array<attribute_desc, 1> attributes{
      {{"epsilon", attribute_type::real, 1e-6}}};
};

/// Fluid: decayed_adagrad.
struct decayed_adagrad : adagrad {
  static constexpr const char* type = "decayed_adagrad";
  static constexpr std::array<attribute_desc, 2> attributes{
      {{"decay", attribute_type::real, 0.95}, {"epsilon", attribute_type::real, 1e-6}}};
};

/// Fluid: adam.
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

/// Fluid: lamb.
struct lamb : adam {
  static constexpr const char* type = "lamb";
  static constexpr std::array<attribute_desc, 4> attributes{
      {{"weight_decay", attribute_type::real, 0.01},
       {"beta1", attribute_type::real, 0.9},
       {"beta2", attribute_type::real, 0.999},
       {"epsilon", attribute_type::real, 1e-6}}};
};

/// Fluid: adamax. A separate scale operator multiplies the power of beta1.
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

/// Fluid: adadelta, which has no learning rate.
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

/// Fluid: ftrl.
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

/// Fluid: proximal_gd.
struct proximal_gd : operator_definition {
  static constexpr const char* type = "proximal_gd";
  static constexpr std::array<slot_desc, 3> inputs{{{"Param"}, {"Grad"}, {"LearningRate"}}};
  static constexpr std::array<slot_desc, 1> outputs{{{"ParamOut"}}};
  static constexpr std::array<attribute_desc, 2> attributes{
      {{"l1", attribute_type::real, 0}, {"l2", attribute_type::real, 0}}};
};

/// Fluid: proximal_adagrad.
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
