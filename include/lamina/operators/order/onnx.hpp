// SPDX-License-Identifier: Apache-2.0
// lamina/operators/order/onnx.hpp - operators of the family order, as ONNX nodes.
#pragma once

#include <lamina/core/config.hpp>

#include <cstdint>
#include <string>
#include <vector>

#include <lamina/io/onnx/onnx_operator.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace onnx {

/// Sorts a dimension by TopK with all its elements.
inline void lower_argsort(onnx_operator& op) {
  const std::int64_t axis = op.integer("axis", -1);
  const std::vector<std::string> found =
      op.nodes("TopK", {op.in("X"), op.list({op.extent("X", static_cast<int>(axis))})}, 2,
               {{"axis", axis}, {"largest", op.flag("descending") ? 1 : 0}});
  op.out("Out", found[0]);
  op.out("Indices", found[1]);
}

inline onnx_lowering arg_extreme(const char* type) {
  return [type](onnx_operator& op) {
    const bool keeps = op.flag("keepdims") || op.rank("X") == 1;
    op.out("Out", type, {op.in("X")}, {{"axis", op.integer("axis")}, {"keepdims", keeps ? 1 : 0}});
  };
}

inline void add_order_argsort(onnx_operators& to) {
  to.add("argsort", lower_argsort);
  to.add("arg_max", arg_extreme("ArgMax"));
  to.add("arg_min", arg_extreme("ArgMin"));
}

}}}  // namespace lamina::onnx
