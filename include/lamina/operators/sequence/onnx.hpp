// SPDX-License-Identifier: Apache-2.0
// lamina/operators/sequence/onnx.hpp - operators of the family sequence, as ONNX nodes.
#pragma once

#include <lamina/core/config.hpp>

#include <cstdint>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include <lamina/io/onnx/onnx_operator.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace onnx {

// ONNX has no ragged values. The rows of all sequences are one tensor, as in Fluid, and their
// lengths are a second tensor. So a feed of sequences NAME has a second input NAME@LENGTHS.

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

inline void lower_sequence_conv(onnx_operator& op) {
  const sequence_positions at = positions_in(op, "X");
  const std::int64_t start = op.integer("contextStart"), length = op.integer("contextLength");
  if (op.integer("contextStride", 1) != 1) op.fail("expected contextStride 1");
  const bool trained = op.flag("paddingTrainable") && op.has("PaddingData");
  const std::int64_t before = start < 0 ? -start : 0;
  std::vector<std::string> window;
  for (std::int64_t j = 0; j < length; ++j) {
    const shifted_rows s = shifted(op, at, op.in("X"), start + j);
    std::string outside = op.number(0, op.type_of("X"));
    if (trained && start + j != 0) {
      // Padding rows before a sequence count backwards from the middle of PaddingData, rows after
      // it count forwards.
      const std::string& behind =
          op.node("Max", {op.node("Sub", {s.position, s.length}), op.whole(-before)});
      const std::string& row = op.node(
          "Add",
          {start + j < 0 ? op.node("Min", {s.position, op.whole(-1)}) : behind, op.whole(before)});
      const std::string& free =
          op.node("Where", {op.node("Squeeze", {s.is_inside, op.list({1})}), op.whole(0), row});
      outside = gathered(op, op.in("PaddingData"), free);
    }
    window.push_back(op.node("Where", {s.is_inside, s.values, outside}));
  }
  const std::string& all =
      window.size() == 1 ? window[0] : op.node("Concat", window, {{"axis", 1}});
  op.out("Out", "MatMul", {all, op.in("Filter")});
}

inline void lower_row_conv(onnx_operator& op) {
  const sequence_positions at = positions_in(op, "X");
  std::vector<std::string> parts;
  for (std::int64_t j = 0; j < op.extent("Filter", 0); ++j) {
    const shifted_rows s = shifted(op, at, op.in("X"), j);
    const std::string& row = op.node("Gather", {op.in("Filter"), op.list({j})}, {{"axis", 0}});
    parts.push_back(op.node(
        "Mul", {op.node("Where", {s.is_inside, s.values, op.number(0, op.type_of("X"))}), row}));
  }
  op.out("Out", "Sum", parts);
}

inline void add_sequence_conv(onnx_operators& to) {
  to.add("sequence_conv", lower_sequence_conv);
  to.add("row_conv", lower_row_conv);
}

/// Repeats each row of X for the rows of one sequence of Y.
inline void lower_sequence_expand(onnx_operator& op) {
  const std::int64_t level = op.integer("ref_level", -1);
  if (op.program().variable(op.name("X")).lod_level > 0 || (level != -1 && level != 0))
    op.fail("expected one row of X for each sequence of Y, found sequences in X or ref_level " +
            std::to_string(level));
  const std::string& lengths = lengths_in(op, "Y");
  op.out("Out", "Gather", {op.in("X"), positions_of(op, lengths).id}, {{"axis", 0}});
  op.program().set_lengths(op.name_of_output("Out"), lengths);
}

inline void add_sequence_expand(onnx_operators& to) {
  to.add("sequence_expand", lower_sequence_expand);
  to.add("sequence_expand_as", lower_sequence_expand);
}

inline void lower_sequence_enumerate(onnx_operator& op) {
  const sequence_positions at = positions_in(op, "X");
  const std::string& pad = op.number(static_cast<double>(op.integer("pad_value")), op.type_of("X"));
  std::vector<std::string> window;
  for (std::int64_t j = 0; j < op.integer("win_size", 1); ++j) {
    const shifted_rows s = shifted(op, at, op.in("X"), j);
    window.push_back(op.node("Where", {s.is_inside, s.values, pad}));
  }
  op.out("Out", "Concat", window, {{"axis", 1}});
}

inline void lower_sequence_erase(onnx_operator& op) {
  const sequence_positions at = positions_in(op, "X");
  const std::string& x = op.reshape(op.in("X"), {-1});
  std::string stays = op.node("GreaterOrEqual", {at.position, op.whole(0)});
  for (const std::int64_t token : op.integers("tokens"))
    stays = op.node("And", {stays, differs(op, x, token, op.type_of("X"))});
  keep_rows(op, "Out", at, op.in("X"), stays);
}

inline void lower_sequence_scatter(onnx_operator& op) {
  const sequence_positions at = positions_in(op, "Ids");
  const std::string& ids = op.reshape(op.cast(op.in("Ids"), dtype::int64), {-1, 1});
  const std::string& to = op.node("Concat", {column(op, at.id), ids}, {{"axis", 1}});
  op.out("Out", "ScatterND", {op.in("X"), to, op.reshape(op.in("Updates"), {-1})},
         {{"reduction", "add"}});
}

inline void add_sequence_ids(onnx_operators& to) {
  to.add("sequence_enumerate", lower_sequence_enumerate);
  to.add("sequence_erase", lower_sequence_erase);
  to.add("sequence_scatter", lower_sequence_scatter);
}

inline void lower_sequence_pad(onnx_operator& op) {
  const sequence_positions at = positions_in(op, "X");
  const std::int64_t steps = op.integer("padded_length", -1);
  const auto [row, holds] =
      padded_positions(op, at, steps < 0 ? longest(op, at.lengths) : op.list({steps}));
  std::string mask = holds;
  for (int d = 1; d < op.rank("X"); ++d) mask = column(op, mask);
  op.out("Out", "Where", {mask, gathered(op, op.in("X"), row), op.in("PadValue")});
  if (op.wants("Length"))
    op.out("Length", op.rank("Length") == 1 ? at.lengths : column(op, at.lengths));
}
inline void lower_sequence_unpad(onnx_operator& op) {
  const std::string &lengths = op.reshape(op.in("Length"), {-1}), &x = op.in("X");
  const sequence_positions at = positions_of(op, lengths);
  const std::string& position =
      op.node("Concat", {column(op, at.id), column(op, at.position)}, {{"axis", 1}});
  op.out("Out", "GatherND", {x, position});
  op.program().set_lengths(op.name_of_output("Out"), lengths);
}
inline void lower_sequence_mask(onnx_operator& op) {
  const std::int64_t most = op.integer("maxlen", -1);
  const std::string& n = op.cast(op.in("X"), dtype::int64);
  const std::string& step = counting(op, most < 0 ? longest(op, n) : op.list({most}));
  const std::string& mask = op.cast(op.node("Less", {step, column(op, n)}), op.type_of("Y"));
  if (op.rank("Y") == op.rank("X") + 1) return op.out("Y", mask);
  op.out("Y", "Squeeze", {mask, op.list({op.rank("X") - 1})});
}

inline void add_sequence_pad(onnx_operators& to) {
  to.add("sequence_pad", lower_sequence_pad);
  to.add("sequence_unpad", lower_sequence_unpad);
  to.add("sequence_mask", lower_sequence_mask);
}

/// Adds dimensions to values [sequences], so that rows of any rank can be compared with or divided
/// by them.
inline std::string beside_rows(onnx_operator& op, const std::string& x, int rank) {
  std::vector<std::int64_t> axes;
  for (int d = 1; d < rank; ++d) axes.push_back(d);
  return axes.empty() ? x : op.node("Unsqueeze", {x, op.list(axes)});
}

inline void lower_sequence_pool(onnx_operator& op) {
  if (op.wants("MaxIndex"))
    op.fail("expected that nothing reads MaxIndex, which ONNX does not have");
  const std::string &kind = op.string("pooltype", "AVERAGE"), &x = op.in("X");
  const sequence_positions at = positions_in(op, "X");
  const dtype type = op.type_of("X");
  std::string y;
  if (kind == "FIRST" || kind == "LAST") {
    const std::string &end = op.node("Add", {at.starts, at.lengths}), &one = op.whole(1);
    // An empty sequence may begin after the last row; its row is replaced below.
    const std::string& row = kind == "LAST"
                                 ? op.node("Max", {op.node("Sub", {end, one}), op.whole(0)})
                                 : op.node("Min", {at.starts, op.node("Sub", {at.rows, one})});
    y = gathered(op, x, row);
  } else {
    y = of_each_sequence(op, at, x, kind == "MAX" ? "max" : "add", kind == "MAX" ? lowest : 0);
    if (kind == "AVERAGE" || kind == "SQRT") {
      std::string n = op.cast(at.lengths, type);
      if (kind == "SQRT") n = op.node("Sqrt", {n});
      y = op.node("Div", {y, beside_rows(op, n, op.rank("X"))});
    }
  }
  const std::string& is_empty =
      beside_rows(op, op.node("Equal", {at.lengths, op.whole(0)}), op.rank("X"));
  op.out("Out", "Where", {is_empty, op.number(op.real("pad_value"), type), y});
}

inline void add_sequence_pool(onnx_operators& to) { to.add("sequence_pool", lower_sequence_pool); }

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

inline void lower_sequence_softmax(onnx_operator& op) {
  const sequence_positions at = positions_in(op, "X");
  const std::string& most = of_each_sequence(op, at, op.in("X"), "max", lowest);
  const std::string& e = op.node("Exp", {op.node("Sub", {op.in("X"), gathered(op, most, at.id)})});
  const std::string& sum = of_each_sequence(op, at, e, "add", 0);
  op.out("Out", "Div", {e, gathered(op, sum, at.id)});
}

inline void add_sequence_softmax(onnx_operators& to) {
  to.add("sequence_softmax", lower_sequence_softmax);
}

}}}  // namespace lamina::onnx
