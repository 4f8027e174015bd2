// SPDX-License-Identifier: Apache-2.0
// lamina/layers/activation.hpp - the activation that a layer applies to its output.
#pragma once

#include <lamina/core/config.hpp>

#include <lamina/layers/layer_helper.hpp>
#include <lamina/operators/activation/simple/definition.hpp>
#include <lamina/operators/activation/softmax/definition.hpp>
#include <lamina/operators/activation/tunable/definition.hpp>
#include <lamina/operators/elementwise/unary/definition.hpp>

namespace lamina { inline namespace LAMINA_ABI {

/// The activations that layers take as an option; Fluid: `act=`. Each value means the operator of
/// the same name with its default attributes.
enum class activation : std::uint8_t {
  identity,
  relu,
  tanh,
  sigmoid,
  logsigmoid,
  softplus,
  softsign,
  tanh_shrink,
  exp,
  log,
  sqrt,
  rsqrt,
  abs,
  ceil,
  floor,
  round,
  sin,
  cos,
  asin,
  acos,
  atan,
  reciprocal,
  square,
  gelu,
  selu,
  leaky_relu,
  elu,
  relu6,
  brelu,
  soft_relu,
  stanh,
  hard_sigmoid,
  swish,
  hard_swish,
  pow,
  hard_shrink,
  softshrink,
  thresholded_relu,
  mish,
  softmax
};

namespace layer {

/// Returns the operator of an activation; null for identity.
constexpr const operator_schema* operator_of(activation act) {
  switch (act) {
    case activation::relu:
      return &schema_of<operators::relu>();
    case activation::tanh:
      return &schema_of<operators::tanh>();
    case activation::sigmoid:
      return &schema_of<operators::sigmoid>();
    case activation::logsigmoid:
      return &schema_of<operators::logsigmoid>();
    case activation::softplus:
      return &schema_of<operators::softplus>();
    case activation::softsign:
      return &schema_of<operators::softsign>();
    case activation::tanh_shrink:
      return &schema_of<operators::tanh_shrink>();
    case activation::exp:
      return &schema_of<operators::exp>();
    case activation::log:
      return &schema_of<operators::log>();
    case activation::sqrt:
      return &schema_of<operators::sqrt>();
    case activation::rsqrt:
      return &schema_of<operators::rsqrt>();
    case activation::abs:
      return &schema_of<operators::abs>();
    case activation::ceil:
      return &schema_of<operators::ceil>();
    case activation::floor:
      return &schema_of<operators::floor>();
    case activation::round:
      return &schema_of<operators::round>();
    case activation::sin:
      return &schema_of<operators::sin>();
    case activation::cos:
      return &schema_of<operators::cos>();
    case activation::asin:
      return &schema_of<operators::asin>();
    case activation::acos:
      return &schema_of<operators::acos>();
    case activation::atan:
      return &schema_of<operators::atan>();
    case activation::reciprocal:
      return &schema_of<operators::reciprocal>();
    case activation::square:
      return &schema_of<operators::square>();
    case activation::gelu:
      return &schema_of<operators::gelu>();
    case activation::selu:
      return &schema_of<operators::selu>();
    case activation::leaky_relu:
      return &schema_of<operators::leaky_relu>();
    case activation::elu:
      return &schema_of<operators::elu>();
    case activation::relu6:
      return &schema_of<operators::relu6>();
    case activation::brelu:
      return &schema_of<operators::brelu>();
    case activation::soft_relu:
      return &schema_of<operators::soft_relu>();
    case activation::stanh:
      return &schema_of<operators::stanh>();
    case activation::hard_sigmoid:
      return &schema_of<operators::hard_sigmoid>();
    case activation::swish:
      return &schema_of<operators::swish>();
    case activation::hard_swish:
      return &schema_of<operators::hard_swish>();
    case activation::pow:
      return &schema_of<operators::pow>();
    case activation::hard_shrink:
      return &schema_of<operators::hard_shrink>();
    case activation::softshrink:
      return &schema_of<operators::softshrink>();
    case activation::thresholded_relu:
      return &schema_of<operators::thresholded_relu>();
    case activation::mish:
      return &schema_of<operators::mish>();
    case activation::softmax:
      return &schema_of<operators::softmax>();
    default:
      return nullptr;
  }
}

/// Records the operator of an activation of `x`. Returns its output, which is another output of the
/// layer; for identity, returns x.
constexpr int apply_activation(layer_helper& layer, activation act, int x) {
  if (act == activation::identity) return x;
  const int y = layer.output_like(x);
  layer.builder().add_operator(*operator_of(act), {x}, {y});
  return y;
}

}  // namespace layer
}}  // namespace lamina
