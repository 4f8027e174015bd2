// SPDX-License-Identifier: Apache-2.0
// lamina/operators/reduce/squared_l2/onnx.hpp - norms of whole arrays, as ONNX nodes.
#pragma once

#include <lamina/core/config.hpp>

#include <cstdint>
#include <string>
#include <vector>

#include <lamina/io/onnx/onnx_operator.hpp>

namespace lamina::inline LAMINA_ABI {

namespace onnx {

inline onnx_lowering whole_norm(const char* type) {
  return [type](onnx_operator& op) {
    const std::string& sum = op.node(type, {op.in("X")}, {{"keepdims", 0}});
    op.out("Out", "Reshape", {sum, op.list({1})});
  };
}
inline void lower_squared_l2_distance(onnx_operator& op) {
  if (op.wants("sub_result")) op.fail("expected that nothing reads its output 'sub_result'");
  const std::string& d = op.node("Sub", {op.in("X"), op.in("Y")});
  std::vector<std::int64_t> inner;
  for (int axis = 1; axis < op.rank("X"); ++axis) inner.push_back(axis);
  const std::string& sum = op.node("ReduceSumSquare", {d, op.list(inner)}, {{"keepdims", 0}});
  op.out("Out", "Reshape", {sum, op.list({-1, 1})});
}

inline void add_reduce_squared_l2(onnx_operators& to) {
  to.add("l1_norm", whole_norm("ReduceL1"));
  to.add("squared_l2_norm", whole_norm("ReduceSumSquare"));
  to.add("squared_l2_distance", lower_squared_l2_distance);
}

}  // namespace onnx

}  // namespace lamina::inline LAMINA_ABI
