// SPDX-License-Identifier: Apache-2.0
// lamina/operators/embedding/onnx.hpp - operators of the family embedding, as ONNX nodes.
#pragma once

#include <lamina/core/config.hpp>

#include <cstdint>
#include <string>
#include <vector>

#include <lamina/io/onnx/onnx_functions.hpp>
#include <lamina/io/onnx/onnx_operator.hpp>
#include <lamina/operators/shape/onnx.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace onnx {

inline void lower_gather(onnx_operator& op) {
  std::string index = op.in("Index");
  if (op.rank("Index") == 2) index = op.node("Squeeze", {index, op.list({1})});
  op.out("Out", "Gather", {op.in("X"), index}, {{"axis", op.integer("axis")}});
}

/// ONNX does not specify which of several updates with equal ids counts. Sums start from zeros
/// instead of X.
inline void lower_scatter(onnx_operator& op) {
  const std::string &ids = op.reshape(op.in("Ids"), {-1, 1}), &updates = op.in("Updates");
  if (op.flag("overwrite", true)) return op.out("Out", "ScatterND", {op.in("X"), ids, updates});
  const std::string& nothing = op.node("ConstantOfShape", {op.node("Shape", {updates})});
  const std::string& zeros = op.cast(nothing, op.type_of("X"));
  op.out("Out", "ScatterND", {op.node("ScatterND", {op.in("X"), ids, zeros}), ids, updates},
         {{"reduction", "add"}});
}

/// Stacks all variables along a new dimension and selects one of them for each row.
inline void lower_multiplex(onnx_operator& op) {
  const std::string& all = stacked(op, op.all("X"), 1);
  std::vector<std::int64_t> one{-1};
  while (static_cast<int>(one.size()) < op.rank("Out") + 1) one.push_back(1);
  const std::string& ids = op.reshape(op.cast(op.in("Ids"), dtype::int64), one);
  const std::string& shape =
      op.node("Shape", {op.node("Slice", {all, op.list({0}), op.list({1}), op.list({1})})});
  const std::string& chosen =
      op.node("GatherElements", {all, op.node("Expand", {ids, shape})}, {{"axis", 1}});
  op.out("Out", "Squeeze", {chosen, op.list({1})});
}

inline void add_embedding_gather(onnx_operators& to) {
  to.add("gather", lower_gather);
  to.add("scatter", lower_scatter);
  to.add("multiplex", lower_multiplex);
}

inline void lower_lookup_table(onnx_operator& op) {
  const bool has_column = op.type() == "lookup_table";  // lookup_table_v2 has none
  const std::string& ids = has_column ? without_last(op, "Ids") : op.in("Ids");
  const std::int64_t padding = op.integer("padding_idx", -1);
  if (padding < 0) return op.out("Out", "Gather", {op.in("W"), ids}, {{"axis", 0}});
  const std::string& rows = op.node("Gather", {op.in("W"), ids}, {{"axis", 0}});
  const std::string& id =
      has_column ? op.in("Ids") : op.node("Unsqueeze", {op.in("Ids"), op.list({-1})});
  const std::string& is_padding =
      op.node("Equal", {id, op.number(double(padding), op.type_of("Ids"))});
  op.out("Out", "Where", {is_padding, op.number(0, op.type_of("Out")), rows});
}

inline void add_embedding_lookup_table(onnx_operators& to) {
  to.add("lookup_table", lower_lookup_table);
  to.add("lookup_table_v2", lower_lookup_table);
}

}}}  // namespace lamina::onnx
