// SPDX-License-Identifier: Apache-2.0
// lamina/operators/fill/onnx.hpp - constants, as ONNX nodes.
#pragma once

#include <lamina/core/config.hpp>

#include <cstdint>
#include <optional>
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

/// ConstantOfShape: all elements have the value of a tensor of one element, else 0.
inline void raise_constant_of_shape(onnx_import_node& n) {
  const std::vector<std::int64_t> dims = n.numbers(0, "dimensions");
  for (const std::int64_t d : dims)
    if ((d < 0 && !is_symbol(d)) || d > 0x7fffffff)
      n.fail(text("expected dimensions from 0 to 2147483647, found ").list(without_symbols(dims)));
  const std::optional<tensor> value = n.tensor_attribute("value");
  if (value && value->size() != 1)
    n.fail(text("expected a value of one element, found ") << value->size());
  n.out(n.filled(value ? value->cast<double>().flat(0) : 0.0,
                 value ? value->type() : dtype::float32, dims));
}
inline void raise_eye_like(onnx_import_node& n) {
  const onnx_imported& x = n.in(0);
  n.require_rank(x, 2, 2);
  const std::int64_t rows = n.extent(x, 0), columns = n.extent(x, 1), k = n.integer("k");
  const dtype type = n.has_attribute("dtype") ? n.type_attribute("dtype", 1) : x.type;
  const onnx_imported row = n.positions(rows, 2, 0), column = n.positions(columns, 2, 1);
  n.out(n.cast(n.binary("equal", column,
                        n.add(n.full(row, column), n.number(static_cast<double>(k), dtype::int64)),
                        dtype::boolean),
               type));
}

inline void add_fill(onnx_operators& to) {
  to.add_node("ConstantOfShape", raise_constant_of_shape);
  to.add_node("EyeLike", raise_eye_like);
  to.add("fill_zeros_like", [](onnx_operator& op) {
    op.out("Out", "Expand", {op.number(0, op.type_of("Out")), op.node("Shape", {op.in("X")})});
  });
  to.add("fill_constant", lower_fill_constant);
  to.add("assign_value", lower_assign_value);
}

}}}  // namespace lamina::onnx
