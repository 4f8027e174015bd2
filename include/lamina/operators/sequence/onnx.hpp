// SPDX-License-Identifier: Apache-2.0
// lamina/operators/sequence/onnx.hpp - positions and lengths of sequences, for sequence operators
// as ONNX nodes.
//
// ONNX has no ragged values. The rows of all sequences are one tensor, as in Fluid, and their
// lengths are a second tensor. So a feed of sequences NAME has a second input NAME@LENGTHS.
#pragma once

#include <lamina/core/config.hpp>

#include <cstdint>
#include <limits>
#include <string>
#include <utility>

#include <lamina/io/onnx/onnx_operator.hpp>

namespace lamina::inline LAMINA_ABI {

namespace onnx {

/// The positions of rows in sequences, as values of the graph.
struct sequence_positions {
  std::string lengths, starts;  // [sequences]
  std::string id, position;     // [rows]: index of the sequence; position in it
  std::string rows;             // [1]: the number of rows
};

inline const std::string& dimension_of(onnx_operator& op, const std::string& x, int axis) {
  return op.node("Shape", {x}, {{"start", axis}, {"end", axis + 1}});
}
/// Returns 0, 1, ... n - 1, where n is a value [1].
inline const std::string& counting(onnx_operator& op, const std::string& n) {
  return op.node("Range", {op.whole(0), op.reshape(n, {}), op.whole(1)});
}
/// A constant value in the shape `shape`, which is itself a value of the graph.
inline const std::string& filled(onnx_operator& op, double value, dtype type,
                                 const std::string& shape) {
  return op.node("Expand", {op.number(value, type), shape});
}
/// The shape of `like` with `rows` as its first dimension.
inline const std::string& with_rows(onnx_operator& op, const std::string& rows,
                                    const std::string& like) {
  return op.node("Concat", {rows, op.node("Shape", {like}, {{"start", 1}})}, {{"axis", 0}});
}
inline const std::string& gathered(onnx_operator& op, const std::string& x,
                                   const std::string& index) {
  return op.node("Gather", {x, index}, {{"axis", 0}});
}
inline const std::string& column(onnx_operator& op, const std::string& x) {
  return op.node("Unsqueeze", {x, op.list({-1})});
}

/// The positions of rows in sequences with the given lengths.
inline sequence_positions positions_of(onnx_operator& op, const std::string& lengths) {
  sequence_positions at;
  at.lengths = lengths;
  const std::string& ends = op.node("CumSum", {lengths, op.whole(0)});
  at.starts = op.node("Sub", {ends, lengths});
  at.rows = op.reshape(op.node("ReduceSum", {lengths}, {{"keepdims", 0}}), {1});
  // The number of sequences that have ended grows by one at the end of each sequence.
  const std::string& more = op.node("Add", {at.rows, op.list({1})});
  const std::string& one_each = filled(op, 1, dtype::int64, op.node("Shape", {lengths}));
  const std::string& ended =
      op.node("ScatterElements", {filled(op, 0, dtype::int64, more), ends, one_each},
              {{"axis", 0}, {"reduction", "add"}});
  at.id = op.node("Slice", {op.node("CumSum", {ended, op.whole(0)}), op.list({0}), at.rows});
  at.position = op.node("Sub", {counting(op, at.rows), gathered(op, at.starts, at.id)});
  return at;
}
/// The lengths of the sequences in a slot; fails if it has no sequences or more than one level.
inline std::string lengths_in(onnx_operator& op, const char* slot) {
  const std::string& found = op.program().lengths(op.name(slot));
  if (found.empty())
    op.fail("expected rows of sequences with one level, found those of '" + op.name(slot) + "'");
  return found;
}
inline sequence_positions positions_in(onnx_operator& op, const char* slot) {
  return positions_of(op, lengths_in(op, slot));
}

/// Reduces the rows of each sequence to one row; `reduction` is "add" or "max".
inline const std::string& of_each_sequence(onnx_operator& op, const sequence_positions& at,
                                           const std::string& x, const char* reduction,
                                           double from) {
  const std::string& shape = with_rows(op, op.node("Shape", {at.lengths}), x);
  return op.node("ScatterND", {filled(op, from, op.type_of("X"), shape), column(op, at.id), x},
                 {{"reduction", reduction}});
}
/// A value that is below all floats or doubles.
inline constexpr double lowest = -std::numeric_limits<double>::infinity();

/// For each row, the row that is `offset` rows later in its sequence, and whether that row is
/// inside the sequence.
struct shifted_rows {
  std::string position;  // [rows]: in the sequence; outside if below 0 or at least `length`
  std::string length;
  std::string is_inside;  // [rows, 1]
  std::string values;     // the rows; arbitrary for positions outside
};
inline shifted_rows shifted(onnx_operator& op, const sequence_positions& at, const std::string& x,
                            std::int64_t offset) {
  shifted_rows made;
  made.length = gathered(op, at.lengths, at.id);
  made.position = op.node("Add", {at.position, op.whole(offset)});
  const std::string& inside =
      op.node("And", {op.node("GreaterOrEqual", {made.position, op.whole(0)}),
                      op.node("Less", {made.position, made.length})});
  const std::string& row = op.node("Add", {gathered(op, at.starts, at.id), made.position});
  made.is_inside = column(op, inside);
  made.values = gathered(op, x, op.node("Where", {inside, row, op.whole(0)}));
  return made;
}

/// Two values [sequences, steps]: the row at each position (arbitrary if there is none), and
/// whether there is one.
inline std::pair<std::string, std::string> padded_positions(onnx_operator& op,
                                                            const sequence_positions& at,
                                                            const std::string& steps) {
  const std::string& step = counting(op, steps);
  const std::string& holds = op.node("Less", {step, column(op, at.lengths)});
  const std::string& row = op.node("Add", {column(op, at.starts), step});
  return {op.node("Where", {holds, row, op.whole(0)}), holds};
}
inline const std::string& longest(onnx_operator& op, const std::string& lengths) {
  return op.reshape(op.node("ReduceMax", {lengths}, {{"keepdims", 0}}), {1});
}

/// The rows of x for which a mask [rows] is true, with the shorter sequences that they form.
inline void keep_rows(onnx_operator& op, const char* slot, const sequence_positions& at,
                      const std::string& x, const std::string& mask) {
  op.out(slot, "Compress", {x, mask}, {{"axis", 0}});
  const std::string& none = filled(op, 0, dtype::int64, op.node("Shape", {at.lengths}));
  const std::string& lengths =
      op.node("ScatterElements", {none, at.id, op.cast(mask, dtype::int64)},
              {{"axis", 0}, {"reduction", "add"}});
  op.program().set_lengths(op.name_of_output(slot), lengths);
}
/// Whether each integer in [rows] differs from `number`.
inline const std::string& differs(onnx_operator& op, const std::string& x, std::int64_t number,
                                  dtype type) {
  return op.node("Not", {op.node("Equal", {x, op.number(static_cast<double>(number), type)})});
}

}  // namespace onnx

}  // namespace lamina::inline LAMINA_ABI
