// SPDX-License-Identifier: Apache-2.0
// lamina/layers/activation.hpp - the activation that a layer applies to its output.
#pragma once

#include <lamina/core/config.hpp>

#include <lamina/layers/layer_helper.hpp>
#include <lamina/operators/activation/simple/definition.hpp>
#include <lamina/operators/activation/softmax/definition.hpp>
#include <lamina/operators/activation/tunable/definition.hpp>
#include <lamina/operators/elementwise/unary/definition.hpp>

namespace lamina::inline LAMINA_ABI {

/// Fluid's `act=`. Each value is the operator of the same name with its default attributes.
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
  softmax
};

namespace layer {

/// The operator of an activation; null for identity.
constexpr const operator_schema* operator_of(activation act) {
  switch (act) {
    case activation::relu:
      return &schema_of<lamina::relu>();
    case activation::tanh:
      return &schema_of<lamina::tanh>();
    case activation::sigmoid:
      return &schema_of<lamina::sigmoid>();
    case activation::logsigmoid:
      return &schema_of<lamina::logsigmoid>();
    case activation::softplus:
      return &schema_of<lamina::softplus>();
    case activation::softsign:
      return &schema_of<lamina::softsign>();
    case activation::tanh_shrink:
      return &schema_of<lamina::tanh_shrink>();
    case activation::exp:
      return &schema_of<lamina::exp>();
    case activation::log:
      return &schema_of<lamina::log>();
    case activation::sqrt:
      return &schema_of<lamina::sqrt>();
    case activation::rsqrt:
      return &schema_of<lamina::rsqrt>();
    case activation::abs:
      return &schema_of<lamina::abs>();
    case activation::ceil:
      return &schema_of<lamina::ceil>();
    case activation::floor:
      return &schema_of<lamina::floor>();
    case activation::round:
      return &schema_of<lamina::round>();
    case activation::sin:
      return &schema_of<lamina::sin>();
    case activation::cos:
      return &schema_of<lamina::cos>();
    case activation::asin:
      return &schema_of<lamina::asin>();
    case activation::acos:
      return &schema_of<lamina::acos>();
    case activation::atan:
      return &schema_of<lamina::atan>();
    case activation::reciprocal:
      return &schema_of<lamina::reciprocal>();
    case activation::square:
      return &schema_of<lamina::square>();
    case activation::gelu:
      return &schema_of<lamina::gelu>();
    case activation::selu:
      return &schema_of<lamina::selu>();
    case activation::leaky_relu:
      return &schema_of<lamina::leaky_relu>();
    case activation::elu:
      return &schema_of<lamina::elu>();
    case activation::relu6:
      return &schema_of<lamina::relu6>();
    case activation::brelu:
      return &schema_of<lamina::brelu>();
    case activation::soft_relu:
      return &schema_of<lamina::soft_relu>();
    case activation::stanh:
      return &schema_of<lamina::stanh>();
    case activation::hard_sigmoid:
      return &schema_of<lamina::hard_sigmoid>();
    case activation::swish:
      return &schema_of<lamina::swish>();
    case activation::hard_swish:
      return &schema_of<lamina::hard_swish>();
    case activation::pow:
      return &schema_of<lamina::pow>();
    case activation::hard_shrink:
      return &schema_of<lamina::hard_shrink>();
    case activation::softshrink:
      return &schema_of<lamina::softshrink>();
    case activation::thresholded_relu:
      return &schema_of<lamina::thresholded_relu>();
    case activation::softmax:
      return &schema_of<lamina::softmax>();
    default:
      return nullptr;
  }
}

/// Appends the operator of an activation to `x`, as a further output of the layer.
constexpr int apply_activation(layer_helper& layer, activation act, int x) {
  if (act == activation::identity) return x;
  const int y = layer.output_like(x);
  layer.builder().add_operator(*operator_of(act), {x}, {y});
  return y;
}

}  // namespace layer
}  // namespace lamina::inline LAMINA_ABI
