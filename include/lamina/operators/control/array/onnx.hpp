// SPDX-License-Identifier: Apache-2.0
// lamina/operators/control/array/onnx.hpp - tensor arrays, as ONNX nodes.
#pragma once

#include <lamina/core/config.hpp>

#include <cstdint>
#include <string>
#include <vector>

#include <lamina/io/onnx/onnx_fold.hpp>
#include <lamina/io/onnx/onnx_operator.hpp>
#include <lamina/operators/control/onnx.hpp>
#include <lamina/operators/shape/onnx.hpp>

namespace lamina::inline LAMINA_ABI {

namespace onnx {

/// The array with a given name; fails if it is written but belongs to an outer graph.
inline onnx_program::state::array& array_of(onnx_operator& op, const std::string& name,
                                            bool writes) {
  onnx_program& p = op.program();
  auto& array =
      p.now.arrays.emplace(name, onnx_program::state::array{p.graph.depth(), {}}).first->second;
  if (writes && array.depth != p.graph.depth())
    op.fail("expected tensor arrays of its own in a loop or branch, found '" + name +
            "' of outside");
  return array;
}
inline std::size_t index_of(onnx_operator& op) {
  const std::int64_t* i = known(op.program(), op.name("I"));
  if (i == nullptr || *i < 0 || *i > most_repeated_steps)
    op.fail("expected an index that is known before the model runs, found '" + op.name("I") + "'");
  return static_cast<std::size_t>(*i);
}

inline void lower_write_to_array(onnx_operator& op) {
  const std::size_t i = index_of(op);
  auto& array = array_of(op, op.name_of_output("Out"), true);
  if (array.values.size() <= i) array.values.resize(i + 1);
  array.values[i] = op.in("X");
}
inline void lower_read_from_array(onnx_operator& op) {
  const std::size_t i = index_of(op);
  const auto& array = array_of(op, op.name("X"), false);
  if (i >= array.values.size() || array.values[i].empty())
    op.fail("expected a value at index " + std::to_string(i) + " of '" + op.name("X") +
            "', found none");
  op.out("Out", array.values[i]);
}
inline void lower_array_length(onnx_operator& op) {
  const std::int64_t n = static_cast<std::int64_t>(array_of(op, op.name("X"), false).values.size());
  op.out("Out", op.list({n}));
  op.program().known[op.program().value(op.name_of_output("Out"))] = n;
}
inline void lower_cut_into_array(onnx_operator& op) {
  const std::int64_t axis = op.integer("axis"), n = op.extent("X", static_cast<int>(axis));
  auto& array = array_of(op, op.name_of_output("Out"), true);
  array.values.clear();
  for (std::int64_t i = 0; i < n; ++i)
    array.values.push_back(op.node("Gather", {op.in("X"), op.whole(i)}, {{"axis", axis}}));
}
inline void lower_join_array(onnx_operator& op) {
  std::vector<std::string> values = array_of(op, op.name("X"), false).values;
  std::string any;
  for (const std::string& v : values)
    if (any.empty()) any = v;
  if (any.empty()) op.fail("expected values in '" + op.name("X") + "', found none");
  for (std::string& v : values)
    if (v.empty())
      v = op.node("Expand", {op.number(0, op.type_of("Out")), op.node("Shape", {any})});
  if (op.flag("use_stack")) return op.out("Out", stacked(op, values, op.integer("axis")));
  op.out("Out", "Concat", values, {{"axis", op.integer("axis")}});
}

inline void add_control_array(onnx_operators& to) {
  to.add("write_to_array", lower_write_to_array);
  to.add("read_from_array", lower_read_from_array);
  to.add("lod_array_length", lower_array_length);
  to.add("tensor_to_tensor_array", lower_cut_into_array);
  to.add("tensor_array_to_tensor", lower_join_array);
}

}  // namespace onnx

}  // namespace lamina::inline LAMINA_ABI
