// SPDX-License-Identifier: Apache-2.0
// lamina/operators/shape/onnx.hpp - variables stacked along a new dimension, by ONNX nodes.
#pragma once

#include <lamina/core/config.hpp>

#include <cstdint>
#include <string>
#include <vector>

#include <lamina/io/onnx/onnx_operator.hpp>

namespace lamina::inline LAMINA_ABI {

namespace onnx {

/// Stacks the values along a new dimension.
inline std::string stacked(onnx_operator& op, const std::vector<std::string>& values,
                           std::int64_t axis) {
  std::vector<std::string> each;
  for (const std::string& v : values) each.push_back(op.node("Unsqueeze", {v, op.list({axis})}));
  return each.size() == 1 ? each[0] : op.node("Concat", each, {{"axis", axis}});
}

}  // namespace onnx

}  // namespace lamina::inline LAMINA_ABI
