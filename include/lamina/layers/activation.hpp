// SPDX-License-Identifier: Apache-2.0
// lamina/layers/activation.hpp - the activation that a layer applies to its output.
#pragma once

#include <lamina/layers/layer_helper.hpp>
#include <lamina/operators/activation.hpp>

namespace lamina {

/// Fluid's `act=`: each names the operator of the same name.
enum class activation : std::uint8_t { identity, relu, tanh, sigmoid };

namespace layer {

/// Appends the operator of an activation to `x`, as a further output of the layer.
constexpr int apply_activation(layer_helper& layer, activation act, int x) {
  const operator_schema* schema = nullptr;
  switch (act) {
    case activation::identity:
      return x;
    case activation::relu:
      schema = &schema_of<lamina::relu>();
      break;
    case activation::tanh:
      schema = &schema_of<lamina::tanh>();
      break;
    case activation::sigmoid:
      schema = &schema_of<lamina::sigmoid>();
      break;
  }
  const int y = layer.output_like(x);
  layer.builder().add_operator(*schema, {x}, {y});
  return y;
}

}  // namespace layer
}  // namespace lamina
