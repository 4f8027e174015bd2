// SPDX-License-Identifier: Apache-2.0
// lamina/operators/shape/onnx.hpp - operators of the family shape, as ONNX nodes.
#pragma once

#include <lamina/core/config.hpp>

#include <cstdint>
#include <string>
#include <vector>

#include <lamina/io/onnx/onnx_operator.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace onnx {

/// Stacks the values along a new dimension.
inline std::string stacked(onnx_operator& op, const std::vector<std::string>& values,
                           std::int64_t axis) {
  std::vector<std::string> each;
  for (const std::string& v : values) each.push_back(op.node("Unsqueeze", {v, op.list({axis})}));
  return each.size() == 1 ? each[0] : op.node("Concat", each, {{"axis", axis}});
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

/// ONNX lists the leading padding of every dimension, then the trailing padding of every dimension.
inline void lower_pad(onnx_operator& op) {
  const std::vector<std::int64_t> paddings = op.integers("paddings");
  std::vector<std::int64_t> pads;
  for (const std::size_t first : {0U, 1U})
    for (std::size_t i = first; i < paddings.size(); i += 2) pads.push_back(paddings[i]);
  op.out("Out", "Pad",
         {op.in("X"), op.list(pads), op.number(op.real("pad_value"), op.type_of("X"))});
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

/// Splits a dimension into slices at single indices, without this dimension.
inline void lower_unstack(onnx_operator& op) {
  const std::int64_t axis = op.integer("axis");
  const std::vector<std::string>& names = op.message().output("Y");
  const std::vector<std::string> parts =
      op.nodes("Split", {op.in("X")}, static_cast<int>(names.size()),
               {{"axis", axis}, {"num_outputs", static_cast<std::int64_t>(names.size())}});
  for (std::size_t i = 0; i < names.size(); ++i)
    op.assign(names[i], "Squeeze", {parts[i], op.list({axis})});
}

inline void add_shape_join(onnx_operators& to) {
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
}

inline void lower_is_empty(onnx_operator& op) {
  const std::string& size = op.node("Size", {op.in("X")});
  op.out("Out", "Equal", {op.reshape(size, {1}), op.list({0})});
}

/// Arranges the coordinates as columns; the elements of each row form a sequence.
inline void lower_where(onnx_operator& op) {
  const std::string& truth = op.cast(op.in("Condition"), dtype::boolean);
  op.out("Out", "Transpose", {op.node("NonZero", {truth})});
  std::vector<std::int64_t> inner;
  for (int d = 1; d < op.rank("Condition"); ++d) inner.push_back(d);
  const std::string& count = op.cast(truth, dtype::int64);
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

inline void add_shape_query(onnx_operators& to) {
  to.add("shape", [](onnx_operator& op) {
    op.out("Out", op.cast(op.node("Shape", {op.in("Input")}), op.type_of("Out")));
  });
  to.add("is_empty", lower_is_empty);
  to.add("where_index", lower_where);
  to.add("range", lower_range);
}

inline void lower_reshape(onnx_operator& op) {
  if (op.has("Shape") || op.has("ShapeTensor"))
    op.fail("expected a shape as attribute, found one in a variable");
  op.out("Out", "Reshape", {op.in("X"), op.list(op.integers("shape"))});
}

/// Removes `axes` or, if it is empty, all dimensions of extent 1.
inline void lower_squeeze(onnx_operator& op) {
  std::vector<std::int64_t> axes = op.integers("axes");
  const std::vector<std::int64_t>& dims = op.dims("X");
  for (std::size_t d = 0; d < dims.size() && op.integers("axes").empty(); ++d)
    if (dims[d] == 1) axes.push_back(static_cast<std::int64_t>(d));
  op.out("Out", "Squeeze", {op.in("X"), op.list(axes)});
}

inline void add_shape_reshape(onnx_operators& to) {
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
}

}}}  // namespace lamina::onnx
