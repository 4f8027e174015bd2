// SPDX-License-Identifier: Apache-2.0
// lamina/operators/loss/onnx.hpp - case distinctions and squares, for the costs as ONNX nodes.
#pragma once

#include <lamina/core/config.hpp>

#include <string>

#include <lamina/io/onnx/onnx_operator.hpp>

namespace lamina::inline LAMINA_ABI {

namespace onnx {

/// A piecewise cost: `inside` where `condition` is true, else `outside`.
inline const std::string& choose(onnx_operator& op, const std::string& condition,
                                 const std::string& inside, const std::string& outside) {
  return op.node("Where", {condition, inside, outside});
}
inline const std::string& square(onnx_operator& op, const std::string& x) {
  return op.node("Mul", {x, x});
}

}  // namespace onnx

}  // namespace lamina::inline LAMINA_ABI
