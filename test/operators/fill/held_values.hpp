// SPDX-License-Identifier: Apache-2.0
// An assign_value in a main program; lamina's layers write such operators in startup programs only.
#pragma once

#include <lamina/layers/layers.hpp>

namespace rows {

/// Three values that the program holds.
constexpr auto three_values(lamina::block& main) {
  constexpr float values[] = {0.5f, -1.25f, 3};
  constexpr int extent[] = {3};
  lamina::layer::layer_helper helper(*main.builder, "values", "");
  const auto y = helper.output<lamina::variable<float, lamina::once, 3>>();
  lamina::program_builder& b = *main.builder;
  const lamina::attribute_value shape = b.integer_list(extent, 1), list = b.real_list(values, 3);
  const double type = static_cast<double>(static_cast<int>(lamina::dtype::float32));
  const int attributes = b.attribute_list(shape, type, list, lamina::attribute_value{0, 0, 0});
  lamina::operator_desc op = b.begin(lamina::schema_of<lamina::operators::assign_value>());
  op.outputs = b.arguments.count;
  b.argument(y.id);
  op.end = b.arguments.count;
  op.attributes = attributes;
  b.operators.push(op);
  return helper.returns(y);
}

}  // namespace rows
