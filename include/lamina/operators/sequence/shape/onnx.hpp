// SPDX-License-Identifier: Apache-2.0
// lamina/operators/sequence/shape/onnx.hpp - operators that rearrange rows of sequences, as ONNX
// nodes: reverse, concat, slice, reshape, lod_reset.
#pragma once

#include <lamina/core/config.hpp>

#include <cstdint>
#include <string>
#include <vector>

#include <lamina/io/onnx/onnx_operator.hpp>
#include <lamina/operators/sequence/onnx.hpp>

namespace lamina::inline LAMINA_ABI {

namespace onnx {

inline void lower_sequence_reverse(onnx_operator& op) {
  const sequence_positions at = positions_in(op, "X");
  const std::string& last = op.node("Sub", {op.node("Add", {at.starts, at.lengths}), op.whole(1)});
  op.out("Y", "Gather", {op.in("X"), op.node("Sub", {gathered(op, last, at.id), at.position})},
         {{"axis", 0}});
}

inline void lower_sequence_concat(onnx_operator& op) {
  const std::vector<std::string>& names = op.message().input("X");
  std::vector<sequence_positions> each;
  std::string lengths;
  for (const std::string& name : names) {
    const std::string& n = op.program().lengths(name);
    if (n.empty()) op.fail("expected rows of sequences with one level, found '" + name + "'");
    each.push_back(positions_of(op, n));
    lengths = lengths.empty() ? n : op.node("Add", {lengths, n});
  }
  std::string next = op.node("Sub", {op.node("CumSum", {lengths, op.whole(0)}), lengths});
  const std::string& rows = op.reshape(op.node("ReduceSum", {lengths}, {{"keepdims", 0}}), {1});
  const std::vector<std::string> values = op.all("X");
  std::string y = filled(op, 0, op.type_of("Out"), with_rows(op, rows, values.at(0)));
  for (std::size_t i = 0; i < each.size(); ++i) {
    const std::string& to = op.node("Add", {gathered(op, next, each[i].id), each[i].position});
    y = op.node("ScatterND", {y, column(op, to), values[i]});
    next = op.node("Add", {next, each[i].lengths});
  }
  op.out("Out", y);
  op.program().set_lengths(op.name_of_output("Out"), lengths);
}

inline void lower_sequence_reshape(onnx_operator& op) {
  const std::int64_t width = op.integer("new_dim"), from = op.extent("X", 1);
  const std::string& elements = op.node("Mul", {lengths_in(op, "X"), op.whole(from)});
  op.out("Out", "Reshape", {op.in("X"), op.list({-1, width})});
  op.program().set_lengths(op.name_of_output("Out"), op.node("Div", {elements, op.whole(width)}));
}

inline void lower_sequence_slice(onnx_operator& op) {
  const sequence_positions from = positions_in(op, "X");
  const std::string& lengths = op.reshape(op.cast(op.in("Length"), dtype::int64), {-1});
  const std::string& offset = op.reshape(op.cast(op.in("Offset"), dtype::int64), {-1});
  const sequence_positions at = positions_of(op, lengths);
  const std::string& first = gathered(op, op.node("Add", {from.starts, offset}), at.id);
  op.out("Out", "Gather", {op.in("X"), op.node("Add", {first, at.position})}, {{"axis", 0}});
  op.program().set_lengths(op.name_of_output("Out"), lengths);
}

/// Replaces the sequences of X by the sequences of Y, or by sequences with the offsets in Y or in
/// target_lod.
inline void lower_lod_reset(onnx_operator& op) {
  if (op.flag("append")) op.fail("expected one level of sequences, found that one is appended");
  const std::vector<std::int64_t> target = op.integers("target_lod");
  if (!op.has("Y") && target.empty()) op.fail("expected Y or target_lod, found neither");
  std::string lengths = op.has("Y") ? op.program().lengths(op.name("Y")) : std::string();
  if (lengths.empty()) {
    const std::string& offsets =
        op.has("Y") ? op.reshape(op.cast(op.in("Y"), dtype::int64), {-1}) : op.list(target);
    const std::string &first = op.list({0}), &second = op.list({1});
    const std::string& ends = op.node("Slice", {offsets, second, op.node("Shape", {offsets})});
    lengths = op.node("Sub", {ends, op.node("Slice", {offsets, first, op.list({-1})})});
  }
  op.program().set_lengths(op.name_of_output("Out"), lengths);
  op.out("Out", op.in("X"));
}

inline void add_sequence_shape(onnx_operators& to) {
  to.add("sequence_reverse", lower_sequence_reverse);
  to.add("sequence_concat", lower_sequence_concat);
  to.add("sequence_reshape", lower_sequence_reshape);
  to.add("sequence_slice", lower_sequence_slice);
  to.add("lod_reset", lower_lod_reset);
}

}  // namespace onnx

}  // namespace lamina::inline LAMINA_ABI
