// SPDX-License-Identifier: Apache-2.0
// lamina/operators/control/split_merge/onnx.hpp - rows that are split and merged, as ONNX nodes.
#pragma once

#include <lamina/core/config.hpp>

#include <cstdint>
#include <string>
#include <vector>

#include <lamina/io/onnx/onnx_fold.hpp>
#include <lamina/io/onnx/onnx_operator.hpp>
#include <lamina/operators/control/onnx.hpp>

namespace lamina::inline LAMINA_ABI {

namespace onnx {

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

}  // namespace onnx

}  // namespace lamina::inline LAMINA_ABI
