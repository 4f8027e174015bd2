// SPDX-License-Identifier: Apache-2.0
// lamina/operators/reduce/onnx.hpp - reductions as ONNX nodes.
#pragma once

#include <lamina/core/config.hpp>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <lamina/io/onnx/onnx_functions.hpp>
#include <lamina/io/onnx/onnx_operator.hpp>

namespace lamina::inline LAMINA_ABI {

namespace onnx {

/// A reduction over the dimensions `dim`. In Fluid, a reduction over all dimensions has the shape
/// [1].
inline void reduce(onnx_operator& op, const char* type, std::vector<std::int64_t> axes, bool keep,
                   bool is_truth = false) {
  for (std::int64_t& a : axes) a = a < 0 ? a + op.rank("X") : a;
  const bool all = axes.empty() || static_cast<int>(axes.size()) == op.rank("X");
  std::vector<std::string> inputs{is_truth ? op.cast(op.in("X"), dtype::int32) : op.in("X")};
  if (!all) inputs.push_back(op.list(axes));
  const std::string_view kind = type;
  const bool chooses = !is_truth && (kind == "ReduceMax" || kind == "ReduceMin");
  std::string y = chooses ? extreme(op, type, inputs, keep, op.type_of("X"))
                          : op.node(type, inputs, {{"keepdims", keep}});
  if (all && op.rank("Out") == 1 && !(keep && op.rank("X") == 1)) y = op.reshape(y, {1});
  op.out("Out", is_truth ? op.cast(y, dtype::boolean) : y);
}
inline onnx_lowering reduction(const char* type, bool is_truth = false) {
  return [type, is_truth](onnx_operator& op) {
    reduce(op, type, op.flag("reduce_all") ? std::vector<std::int64_t>() : op.integers("dim"),
           op.flag("keep_dim"), is_truth);
  };
}

}  // namespace onnx

}  // namespace lamina::inline LAMINA_ABI
