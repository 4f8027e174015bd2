// SPDX-License-Identifier: Apache-2.0
// lamina/operators/embedding/lookup_table/onnx.hpp - rows of a table, as ONNX nodes.
#pragma once

#include <lamina/core/config.hpp>

#include <cstdint>
#include <string>

#include <lamina/io/onnx/onnx_functions.hpp>
#include <lamina/io/onnx/onnx_operator.hpp>

namespace lamina::inline LAMINA_ABI {

namespace onnx {

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

}  // namespace onnx

}  // namespace lamina::inline LAMINA_ABI
