// SPDX-License-Identifier: Apache-2.0
// lamina/operators/shape/join/onnx.hpp - operators that copy elements to other positions, as ONNX
// nodes.
#pragma once

#include <lamina/core/config.hpp>

#include <cstdint>
#include <string>
#include <vector>

#include <lamina/io/onnx/onnx_operator.hpp>
#include <lamina/operators/shape/onnx.hpp>

namespace lamina::inline LAMINA_ABI {

namespace onnx {

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

}  // namespace onnx

}  // namespace lamina::inline LAMINA_ABI
