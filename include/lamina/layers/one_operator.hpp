// SPDX-License-Identifier: Apache-2.0
// lamina/layers/one_operator.hpp - functions for layers that consist of a single operator.
#pragma once

#include <lamina/core/config.hpp>

#include <lamina/core/messages/check.hpp>
#include <lamina/layers/layer_helper.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace layer::detail {

/// Records an operator with one input X and one output Out, which has the shape and type of X.
/// Returns Out.
template <class Op, class V>
constexpr V same_shape(V x, const char* key, std::string_view name, int attributes = -1) {
  layer_helper layer(*x.builder, key, name);
  const int y = layer.output_like(x.id);
  x.builder->add_operator(schema_of<Op>(), {x.id}, {y}, attributes);
  return layer.returns(V{x.builder, y});
}

/// Records an operator with one input slot, which holds `count` variables, and one output.
constexpr void add_with_inputs(program_builder& b, const operator_schema& schema, const int* inputs,
                               int count, int output, int attributes = -1) {
  operator_desc op = b.begin(schema);
  b.list(inputs, count);
  op.outputs = b.arguments.count;
  b.argument(output);
  op.end = b.arguments.count;
  op.attributes = attributes;
  b.operators.push(op);
}

/// Records an operator with one input, and one output slot, which holds `count` variables.
constexpr void add_with_outputs(program_builder& b, const operator_schema& schema, int input,
                                const int* outputs, int count, int attributes = -1) {
  operator_desc op = b.begin(schema);
  b.argument(input);
  op.outputs = b.arguments.count;
  b.list(outputs, count);
  op.end = b.arguments.count;
  op.attributes = attributes;
  b.operators.push(op);
}

/// Makes the output XShape of Fluid. It has no elements; its shape is [0, shape of x], and the
/// gradient operator gets the shape of x from it.
constexpr int shape_output(layer_helper& layer, int x) {
  program_builder& b = layer.builder();
  const variable_desc v = b.variables[x];
  const int at = b.shape(0);
  for (int i = 0; i < v.rank; ++i) {
    const int extent = b.dims[v.dims + i];
    b.dims.push(extent);
  }
  const int made = layer.output(at, v.rank + 1, once::domain, v.type);
  b.variables[made].stop_gradient = true;
  return made;
}

/// Marks a variable so that no gradient flows through it. Returns the variable.
constexpr int without_gradient(layer_helper& layer, int variable) {
  layer.builder().variables[variable].stop_gradient = true;
  return variable;
}

template <class T>
inline constexpr bool is_real = __is_same(T, float) || __is_same(T, double);

}}}  // namespace lamina::layer::detail
