// SPDX-License-Identifier: Apache-2.0
// lamina/operators/control/onnx.hpp - operators of the family control, as ONNX nodes.
#pragma once

#include <lamina/core/config.hpp>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <lamina/io/onnx/onnx_fold.hpp>
#include <lamina/io/onnx/onnx_operator.hpp>
#include <lamina/operators/fill/onnx.hpp>
#include <lamina/operators/shape/onnx.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace onnx {

/// The maximal number of loop steps that are unrolled in the graph.
inline constexpr int most_repeated_steps = 10000;
/// Reshapes a value of one element to rank 0, the rank of conditions.
inline const std::string& scalar(onnx_operator& op, const std::string& value) {
  return op.reshape(value, {});
}
/// The value of a variable or, if it has none yet, zeros with the given number of rows.
inline std::string value_or_zeros(onnx_program& p, const std::string& name, std::size_t rows = 0) {
  const std::string& found = p.value(name);
  if (!found.empty()) return found;
  const variable_message& v = p.variable(name);
  tensor_shape shape;
  for (const std::int64_t extent : v.dims)
    shape.push_back(extent < 0 ? rows : static_cast<std::size_t>(extent));
  return p.graph.constant(tensor::zeros(v.type, shape));
}
inline onnx_value typed(onnx_program& p, const std::string& variable, const std::string& value) {
  return {value, p.variable(variable).type, false, {}};
}

/// A graph that only returns values of the surrounding graph.
inline onnx_graph values_only(onnx_program& p, const std::string& name,
                              std::vector<onnx_value> values) {
  p.graph.open();
  return p.graph.close(name, {}, std::move(values));
}

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
inline void lower_concat_array(onnx_operator& op) {
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
  to.add("tensor_array_to_tensor", lower_concat_array);
}

// A while becomes a Loop whose carried values are the outer variables that its block writes. A
// conditional_block becomes an If whose other branch returns the previous values of these
// variables. A while that steps through tensor arrays (a static_rnn) is unrolled instead, because
// arrays are not values of the graph. So its number of iterations must be known: the conversion
// computes the indices.

inline int sub_block_of(const onnx_operator& op) {
  const attribute_message* a = op.message().attribute("sub_block");
  if (a == nullptr || a->integer <= 0) op.fail("expected a sub_block, found none");
  return static_cast<int>(a->integer);
}
inline bool is_array(onnx_program& p, const std::string& name) {
  return p.variable(name).kind == variable_class::lod_tensor_array;
}
/// Whether an operator reads or writes tensor arrays.
inline bool has_arrays(const onnx_operator& op, onnx_program& p) {
  for (const auto* slot_list : {&op.message().inputs, &op.message().outputs})
    for (const slot_message& s : *slot_list)
      for (const std::string& name : s.arguments)
        if (is_array(p, name)) return true;
  return false;
}

/// The outer variables that the block of an operator writes.
inline std::vector<std::string> written_by(onnx_operator& op) {
  std::vector<std::string> names;
  for (const std::string& name : op.message().output("Out"))
    if (op.program().variable(name).kind == variable_class::lod_tensor) names.push_back(name);
  return names;
}

inline void repeat_while(onnx_operator& op, int block) {
  onnx_program& p = op.program();
  for (int n = 0;; ++n) {
    const std::int64_t* goes_on = known(p, op.name("Condition"));
    if (goes_on == nullptr)
      op.fail(
          "expected a number of steps that is known before the model runs, because its block "
          "uses tensor arrays, which the loops of ONNX do not carry");
    if (*goes_on == 0) return;
    if (n == most_repeated_steps)
      op.fail("expected at most " + std::to_string(n) + " steps of a loop with tensor arrays");
    add_onnx_block(p, block);
  }
}

inline void lower_while(onnx_operator& op) {
  onnx_program& p = op.program();
  const int block = sub_block_of(op);
  if (has_arrays(op, p)) return repeat_while(op, block);
  const std::string& condition = op.name("Condition");
  const std::vector<std::string> carried = written_by(op);
  std::vector<std::string> inputs{"", scalar(op, op.in("Condition"))};
  for (const std::string& name : carried) inputs.push_back(value_or_zeros(p, name));

  const onnx_program::state before = p.now;
  p.graph.open();
  std::vector<onnx_value> given{{p.graph.unique(condition + "/step"), dtype::int64, true, {}},
                                {p.graph.unique(condition + "/going"), dtype::boolean, true, {}}};
  for (const std::string& name : carried) {
    given.push_back(typed(p, name, p.graph.unique(name + "/carried")));
    p.now.values[name] = given.back().name;
  }
  add_onnx_block(p, block);
  std::vector<onnx_value> results{{scalar(op, p.value(condition)), dtype::boolean, true, {}}};
  for (const std::string& name : carried) results.push_back(typed(p, name, p.value(name)));
  const onnx_graph body = p.graph.close(condition + "/body", std::move(given), std::move(results));
  p.now = before;
  std::vector<std::string> outputs;
  for (const std::string& name : carried) outputs.push_back(p.write(name));
  p.graph.node("Loop", inputs, outputs, {{"body", body}});
}

inline void lower_conditional_block(onnx_operator& op) {
  onnx_program& p = op.program();
  const int block = sub_block_of(op);
  const std::string& condition = op.name("Cond");
  const bool of_all = op.flag("is_scalar_condition");
  if (const std::int64_t* holds = of_all ? known(p, condition) : nullptr) {
    if (*holds != 0) add_onnx_block(p, block);
    return;
  }
  if (has_arrays(op, p))
    op.fail("its block uses tensor arrays, which the branches of ONNX do not give");
  const std::vector<std::string> written = written_by(op);
  if (written.empty()) return;
  std::string holds;
  if (of_all) {
    holds = scalar(op, op.in("Cond"));
  } else {  // the condition holds if Cond has rows
    const std::string& rows = op.node("Size", {op.in("Cond")});
    holds = op.node("Greater", {rows, op.whole(0)});
  }
  // If the condition is for all rows, no node reads a value that was not set. Nevertheless the
  // value has one row, because OpenVINO treats the rank of a result without rows as unknown.
  const std::size_t unset = of_all ? 1 : 0;
  std::vector<onnx_value> kept;
  for (const std::string& name : written)
    kept.push_back(typed(p, name, value_or_zeros(p, name, unset)));
  const onnx_graph otherwise = values_only(p, condition + "/otherwise", std::move(kept));

  const onnx_program::state before = p.now;
  p.graph.open();
  add_onnx_block(p, block);
  std::vector<onnx_value> results;
  for (const std::string& name : written)
    results.push_back(typed(p, name, value_or_zeros(p, name, unset)));
  const onnx_graph then = p.graph.close(condition + "/then", {}, std::move(results));
  p.now = before;
  std::vector<std::string> outputs;
  for (const std::string& name : written) outputs.push_back(p.write(name));
  p.graph.node("If", {holds}, outputs, {{"then_branch", then}, {"else_branch", otherwise}});
}

inline void add_control_block(onnx_operators& to) {
  to.add("while", lower_while);
  to.add("conditional_block", lower_conditional_block);
}

inline void add_control_print(onnx_operators& to) {
  to.add("print", [](onnx_operator& op) { op.out("Out", op.in("In")); });
}

inline void lower_fill_like(onnx_operator& op) {
  std::vector<std::int64_t> shape = op.integers("shape");
  const std::int64_t from = op.integer("input_dim_idx"), to = op.integer("output_dim_idx");
  std::vector<std::string> parts;
  if (to > 0) parts.push_back(op.list({shape.begin(), shape.begin() + to}));
  parts.push_back(op.node("Shape", {op.in("Input")}, {{"start", from}, {"end", from + 1}}));
  if (to + 1 < static_cast<std::int64_t>(shape.size()))
    parts.push_back(op.list({shape.begin() + to + 1, shape.end()}));
  const std::string& extents =
      parts.size() == 1 ? parts[0] : op.node("Concat", parts, {{"axis", 0}});
  const std::string& value =
      op.program().graph.constant(constant_of(op, {}).cast(op.type_of("Out")));
  op.out("Out", "Expand", {value, extents});
}

inline void add_control_rank_table(onnx_operators& to) {
  to.add("fill_constant_batch_size_like", lower_fill_like);
}

/// Converts X[Mask]: selects one of several variables, of which the program has computed only one.
inline void lower_select_input(onnx_operator& op) {
  onnx_program& p = op.program();
  const std::vector<std::string>& names = op.message().input("X");
  if (const std::int64_t* chosen = known(p, op.name("Mask"))) {
    if (*chosen < 0 || *chosen >= static_cast<std::int64_t>(names.size()))
      op.fail("expected a Mask below " + std::to_string(names.size()) + ", found " +
              std::to_string(*chosen));
    return op.out("Out", op.value_of(names[static_cast<std::size_t>(*chosen)]));
  }
  const std::string& mask = scalar(op, op.in("Mask"));
  std::string value = value_or_zeros(p, names.at(0));
  for (std::size_t k = 1; k < names.size(); ++k) {
    const std::string& number = op.number(static_cast<double>(k), op.type_of("Mask"));
    const std::string& holds = op.node("Equal", {mask, number});
    const onnx_graph then =
        values_only(p, names[k] + "/chosen", {typed(p, names[k], value_or_zeros(p, names[k]))});
    const onnx_graph otherwise = values_only(p, names[k] + "/other", {typed(p, names[0], value)});
    value = op.node("If", {holds}, {{"then_branch", then}, {"else_branch", otherwise}});
  }
  op.out("Out", value);
}

inline void refuse_sequences(onnx_operator& op, const char* slot) {
  if (op.program().variable(op.name(slot)).lod_level > 0)
    op.fail("expected rows of a batch, found the sequences of '" + op.name(slot) + "'");
}
inline const std::string& mask_of(onnx_operator& op) { return op.reshape(op.in("Mask"), {-1}); }

inline void lower_split_rows(onnx_operator& op) {
  refuse_sequences(op, "X");
  const std::string& mask = mask_of(op);
  if (!op.message().output("OutTrue").empty())
    op.out("OutTrue", "Compress", {op.in("X"), mask}, {{"axis", 0}});
  if (!op.message().output("OutFalse").empty())
    op.out("OutFalse", "Compress", {op.in("X"), op.node("Not", {mask})}, {{"axis", 0}});
}
/// Row i is the next row of its side; its index is the number of earlier rows of this side.
inline void lower_merge_rows(onnx_operator& op) {
  refuse_sequences(op, "Out");
  const std::string &mask = mask_of(op), &first = op.whole(0);
  const auto before = [&](const std::string& side) {
    return op.node("CumSum", {op.cast(side, dtype::int64), first}, {{"exclusive", 1}});
  };
  const std::string &yes = op.in("InTrue"), &no = op.in("InFalse");
  const std::string& rows = op.node("Shape", {yes}, {{"start", 0}, {"end", 1}});
  const std::string& of_no = op.node("Add", {before(op.node("Not", {mask})), rows});
  const std::string& from = op.node("Where", {mask, before(mask), of_no});
  op.out("Out", "Gather", {op.node("Concat", {yes, no}, {{"axis", 0}}), from}, {{"axis", 0}});
}

inline void add_control_split_merge(onnx_operators& to) {
  to.add("select_input", lower_select_input);
  to.add("split_lod_tensor", lower_split_rows);
  to.add("merge_lod_tensor", lower_merge_rows);
}

}}}  // namespace lamina::onnx
