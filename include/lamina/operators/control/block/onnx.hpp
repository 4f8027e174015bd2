// SPDX-License-Identifier: Apache-2.0
// lamina/operators/control/block/onnx.hpp - loops and branches as ONNX nodes.
//
// A while becomes a Loop whose carried values are the outer variables that its block writes. A
// conditional_block becomes an If whose other branch returns the previous values of these
// variables. A while that steps through tensor arrays (a static_rnn) is unrolled instead, because
// arrays are not values of the graph. So its number of iterations must be known: the conversion
// computes the indices.
#pragma once

#include <lamina/core/config.hpp>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <lamina/io/onnx/onnx_fold.hpp>
#include <lamina/io/onnx/onnx_operator.hpp>
#include <lamina/operators/control/onnx.hpp>

namespace lamina::inline LAMINA_ABI {

namespace onnx {

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

}  // namespace onnx

}  // namespace lamina::inline LAMINA_ABI
