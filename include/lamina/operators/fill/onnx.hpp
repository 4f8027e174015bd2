// SPDX-License-Identifier: Apache-2.0
// lamina/operators/fill/onnx.hpp - constants, as ONNX nodes.
#pragma once

#include <lamina/core/config.hpp>

#include <cstdint>
#include <string>
#include <vector>

#include <lamina/io/onnx/onnx_operator.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace onnx {

/// The value of a constant: its text attribute has digits that the float attribute lacks.
inline tensor constant_of(onnx_operator& op, const tensor_shape& shape) {
  const std::string& digits = op.string("str_value");
  std::int64_t whole = 0;
  if (!is_floating(op.type_of("Out")) && detail::read_number(digits, whole))
    return tensor::filled<std::int64_t>(shape, whole);
  double value = op.real("value");
  if (!digits.empty() && !detail::read_number(digits, value))
    op.fail("expected a number in attribute 'str_value', found '" + digits + "'");
  return tensor::filled<double>(shape, value);
}

/// A constant with equal elements is stored as one element and repeated.
inline void lower_fill_constant(onnx_operator& op) {
  const std::vector<std::int64_t> shape = op.integers("shape");
  for (const std::int64_t extent : shape)
    if (extent < 0)
      op.fail("expected a shape that is known, found " + std::string(text().list(shape)));
  const dtype type = op.type_of("Out");
  const bool is_one = shape.size() == 1 && shape[0] == 1;
  const tensor value = constant_of(op, is_one ? tensor_shape{1} : tensor_shape{});
  const std::string& made = op.program().graph.constant(value.cast(type));
  if (!is_one) return op.out("Out", "Expand", {made, op.list(shape)});
  op.out("Out", made);
  if (!is_floating(type)) op.program().known[made] = value.cast<std::int64_t>().flat(0);
}

inline void lower_assign_value(onnx_operator& op) {
  const std::vector<std::int64_t> shape = op.integers("shape");
  const tensor_shape full(shape.begin(), shape.end());
  const attribute_message* reals = op.message().attribute("fp32_values");
  tensor values;
  if (reals != nullptr && !reals->reals.empty())
    values = tensor(full, reals->reals);
  else if (!op.integers("int32_values").empty())
    values = tensor(full, op.integers("int32_values"));
  else
    op.fail("expected values of 32 bits, found none");
  op.out("Out", op.program().graph.constant(values.cast(op.type_of("Out"))));
}

inline void add_fill(onnx_operators& to) {
  to.add("fill_zeros_like", [](onnx_operator& op) {
    op.out("Out", "Expand", {op.number(0, op.type_of("Out")), op.node("Shape", {op.in("X")})});
  });
  to.add("fill_constant", lower_fill_constant);
  to.add("assign_value", lower_assign_value);
}

}}}  // namespace lamina::onnx
