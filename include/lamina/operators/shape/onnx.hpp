// SPDX-License-Identifier: Apache-2.0
// lamina/operators/shape/onnx.hpp - operators that copy elements to other positions, and constants,
// as ONNX nodes.
#pragma once

#include <lamina/core/config.hpp>

#include <cstdint>
#include <string>
#include <vector>

#include <lamina/io/onnx/onnx_operator.hpp>

namespace lamina::inline LAMINA_ABI {

namespace onnx {

inline void lower_reshape(onnx_operator& op) {
  if (op.has("Shape") || op.has("ShapeTensor"))
    op.fail("expected a shape as attribute, found one in a variable");
  op.out("Out", "Reshape", {op.in("X"), op.list(op.integers("shape"))});
}

/// `axes`, or all dimensions of size one if it is empty.
inline void lower_squeeze(onnx_operator& op) {
  std::vector<std::int64_t> axes = op.integers("axes");
  const std::vector<std::int64_t>& dims = op.dims("X");
  for (std::size_t d = 0; d < dims.size() && op.integers("axes").empty(); ++d)
    if (dims[d] == 1) axes.push_back(static_cast<std::int64_t>(d));
  op.out("Out", "Squeeze", {op.in("X"), op.list(axes)});
}

inline void lower_split(onnx_operator& op) {
  const std::vector<std::string>& names = op.message().output("Out");
  const std::vector<std::int64_t> sections = op.integers("sections");
  std::vector<std::string> inputs{op.in("X")};
  std::vector<onnx_attribute> attributes{{"axis", op.integer("axis")}};
  if (sections.empty())
    attributes.emplace_back("num_outputs", static_cast<std::int64_t>(names.size()));
  else
    inputs.push_back(op.list(sections));
  std::vector<std::string> made;
  for (const std::string& name : names) made.push_back(op.program().write(name));
  op.program().graph.node("Split", inputs, made, attributes);
}

/// Stacks the values along a new dimension.
inline std::string stacked(onnx_operator& op, const std::vector<std::string>& values,
                           std::int64_t axis) {
  std::vector<std::string> each;
  for (const std::string& v : values) each.push_back(op.node("Unsqueeze", {v, op.list({axis})}));
  return each.size() == 1 ? each[0] : op.node("Concat", each, {{"axis", axis}});
}

/// ONNX lists the paddings at the beginnings of all dimensions first, then those at the ends.
inline void lower_pad(onnx_operator& op) {
  const std::vector<std::int64_t> paddings = op.integers("paddings");
  std::vector<std::int64_t> pads;
  for (const std::size_t first : {0U, 1U})
    for (std::size_t i = first; i < paddings.size(); i += 2) pads.push_back(paddings[i]);
  op.out("Out", "Pad",
         {op.in("X"), op.list(pads), op.number(op.real("pad_value"), op.type_of("X"))});
}

inline void lower_gather(onnx_operator& op) {
  std::string index = op.in("Index");
  if (op.rank("Index") == 2) index = op.node("Squeeze", {index, op.list({1})});
  op.out("Out", "Gather", {op.in("X"), index}, {{"axis", op.integer("axis")}});
}

inline void lower_crop(onnx_operator& op) {
  if (op.has("Offsets")) op.fail("expected offsets that are known, found a variable");
  std::vector<std::int64_t> axes, starts, ends;
  const std::vector<std::int64_t> offsets = op.integers("offsets");
  for (int d = 0; d < op.rank("Out"); ++d) {
    const std::int64_t extent = op.dims("Out")[static_cast<std::size_t>(d)];
    if (extent < 0) continue;
    axes.push_back(d);
    starts.push_back(offsets.at(static_cast<std::size_t>(d)));
    ends.push_back(starts.back() + extent);
  }
  op.out("Out", "Slice", {op.in("X"), op.list(starts), op.list(ends), op.list(axes)});
}

/// Parts of one element along a dimension, without that dimension.
inline void lower_unstack(onnx_operator& op) {
  const std::int64_t axis = op.integer("axis");
  const std::vector<std::string>& names = op.message().output("Y");
  const std::vector<std::string> parts =
      op.nodes("Split", {op.in("X")}, static_cast<int>(names.size()),
               {{"axis", axis}, {"num_outputs", static_cast<std::int64_t>(names.size())}});
  for (std::size_t i = 0; i < names.size(); ++i)
    op.assign(names[i], "Squeeze", {parts[i], op.list({axis})});
}

/// ONNX leaves open which of several updates with equal ids counts. Sums start from zeros, not from
/// X.
inline void lower_scatter(onnx_operator& op) {
  const std::string ids = op.reshape(op.in("Ids"), {-1, 1}), updates = op.in("Updates");
  if (op.flag("overwrite", true)) return op.out("Out", "ScatterND", {op.in("X"), ids, updates});
  const std::string nothing = op.node("ConstantOfShape", {op.node("Shape", {updates})});
  const std::string zeros = op.cast(nothing, op.type_of("X"));
  op.out("Out", "ScatterND", {op.node("ScatterND", {op.in("X"), ids, zeros}), ids, updates},
         {{"reduction", "add"}});
}

/// Stacks all variables along a new dimension and selects one of them for each row.
inline void lower_multiplex(onnx_operator& op) {
  const std::string all = stacked(op, op.all("X"), 1);
  std::vector<std::int64_t> one{-1};
  while (static_cast<int>(one.size()) < op.rank("Out") + 1) one.push_back(1);
  const std::string ids = op.reshape(op.cast(op.in("Ids"), dtype::int64), one);
  const std::string shape =
      op.node("Shape", {op.node("Slice", {all, op.list({0}), op.list({1}), op.list({1})})});
  const std::string chosen =
      op.node("GatherElements", {all, op.node("Expand", {ids, shape})}, {{"axis", 1}});
  op.out("Out", "Squeeze", {chosen, op.list({1})});
}

inline void lower_is_empty(onnx_operator& op) {
  const std::string size = op.node("Size", {op.in("X")});
  op.out("Out", "Equal", {op.reshape(size, {1}), op.list({0})});
}

/// The coordinates as columns; the elements of each row form a sequence.
inline void lower_where(onnx_operator& op) {
  const std::string truth = op.cast(op.in("Condition"), dtype::boolean);
  op.out("Out", "Transpose", {op.node("NonZero", {truth})});
  std::vector<std::int64_t> inner;
  for (int d = 1; d < op.rank("Condition"); ++d) inner.push_back(d);
  const std::string count = op.cast(truth, dtype::int64);
  op.program().set_lengths(
      op.name_of_output("Out"),
      inner.empty() ? count : op.node("ReduceSum", {count, op.list(inner)}, {{"keepdims", 0}}));
}

inline void lower_range(onnx_operator& op) {
  const auto number = [&](const char* slot) {
    return op.node("Squeeze", {op.in(slot), op.list({0})});
  };
  op.out("Out", "Range", {number("Start"), number("End"), number("Step")});
}

/// The number of a constant: its text has digits that the float does not have.
inline tensor constant_of(onnx_operator& op, const tensor_shape& shape) {
  const std::string digits = op.string("str_value");
  std::int64_t whole = 0;
  if (!is_floating(op.type_of("Out")) && detail::read_number(digits, whole))
    return tensor::filled<std::int64_t>(shape, whole);
  double value = op.real("value");
  if (!digits.empty() && !detail::read_number(digits, value))
    op.fail("expected a number in attribute 'str_value', found '" + digits + "'");
  return tensor::filled<double>(shape, value);
}

/// Elements that are all the same are one element that is repeated.
inline void lower_fill_constant(onnx_operator& op) {
  const std::vector<std::int64_t> shape = op.integers("shape");
  for (const std::int64_t extent : shape)
    if (extent < 0)
      op.fail("expected a shape that is known, found " + std::string(text().list(shape)));
  const dtype type = op.type_of("Out");
  const bool is_one = shape.size() == 1 && shape[0] == 1;
  const tensor value = constant_of(op, is_one ? tensor_shape{1} : tensor_shape{});
  const std::string made = op.program().graph.constant(value.cast(type));
  if (!is_one) return op.out("Out", "Expand", {made, op.list(shape)});
  op.out("Out", made);
  if (!is_floating(type)) op.program().known[made] = value.cast<std::int64_t>().flat(0);
}

inline void lower_fill_like(onnx_operator& op) {
  std::vector<std::int64_t> shape = op.integers("shape");
  const std::int64_t from = op.integer("input_dim_idx"), to = op.integer("output_dim_idx");
  std::vector<std::string> parts;
  if (to > 0) parts.push_back(op.list({shape.begin(), shape.begin() + to}));
  parts.push_back(op.node("Shape", {op.in("Input")}, {{"start", from}, {"end", from + 1}}));
  if (to + 1 < static_cast<std::int64_t>(shape.size()))
    parts.push_back(op.list({shape.begin() + to + 1, shape.end()}));
  const std::string extents =
      parts.size() == 1 ? parts[0] : op.node("Concat", parts, {{"axis", 0}});
  const std::string value =
      op.program().graph.constant(constant_of(op, {}).cast(op.type_of("Out")));
  op.out("Out", "Expand", {value, extents});
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

inline void add_shape(onnx_operators& to) {
  to.add("reshape2", lower_reshape);
  to.add("transpose2", [](onnx_operator& op) {
    op.out("Out", "Transpose", {op.in("X")}, {{"perm", op.integers("axis")}});
  });
  to.add("squeeze2", lower_squeeze);
  to.add("unsqueeze2", [](onnx_operator& op) {
    op.out("Out", "Unsqueeze", {op.in("X"), op.list(op.integers("axes"))});
  });
  to.add("flatten2", [](onnx_operator& op) {
    op.out("Out", "Flatten", {op.in("X")}, {{"axis", op.integer("axis", 1)}});
  });
  to.add("concat", [](onnx_operator& op) {
    op.out("Out", "Concat", op.all("X"), {{"axis", op.integer("axis")}});
  });
  to.add("split", lower_split);
  to.add("stack",
         [](onnx_operator& op) { op.out("Y", stacked(op, op.all("X"), op.integer("axis"))); });
  to.add("slice", [](onnx_operator& op) {
    op.out("Out", "Slice",
           {op.in("Input"), op.list(op.integers("starts")), op.list(op.integers("ends")),
            op.list(op.integers("axes"))});
  });
  to.add("pad", lower_pad);
  to.add("expand", [](onnx_operator& op) {
    op.out("Out", "Tile", {op.in("X"), op.list(op.integers("expand_times"))});
  });
  to.add("crop", lower_crop);
  to.add("unstack", lower_unstack);
  to.add("gather", lower_gather);
  to.add("scatter", lower_scatter);
  to.add("multiplex", lower_multiplex);
  to.add("shape", [](onnx_operator& op) {
    op.out("Out", op.cast(op.node("Shape", {op.in("Input")}), op.type_of("Out")));
  });
  to.add("is_empty", lower_is_empty);
  to.add("where_index", lower_where);
  to.add("range", lower_range);
  to.add("fill_constant", lower_fill_constant);
  to.add("fill_constant_batch_size_like", lower_fill_like);
  to.add("assign_value", lower_assign_value);
}

}  // namespace onnx

}  // namespace lamina::inline LAMINA_ABI
