// SPDX-License-Identifier: Apache-2.0
// lamina/operators/norm/onnx.hpp - parameters and unused outputs of normalisations, for ONNX.
#pragma once

#include <lamina/core/config.hpp>

#include <cstdint>
#include <initializer_list>
#include <string>
#include <vector>

#include <lamina/io/onnx/onnx_operator.hpp>

namespace lamina::inline LAMINA_ABI {

namespace onnx {

/// Scale or Bias of a norm: the parameter, reshaped to a given shape. If it is absent, a constant
/// without effect.
inline std::string norm_parameter(onnx_operator& op, const char* slot, float otherwise,
                                  const std::vector<std::int64_t>& shape) {
  if (op.has(slot)) return shape.size() == 1 ? op.in(slot) : op.reshape(op.in(slot), shape);
  const tensor_shape full(shape.begin(), shape.end());
  return op.program().graph.constant(tensor::filled<float>(full, otherwise).cast(op.type_of("X")));
}
/// Fails if the program reads a value that a norm stores for its gradient, because an inference
/// program does not compute it.
inline void refuse_outputs(onnx_operator& op, std::initializer_list<const char*> slot_list) {
  for (const char* slot : slot_list)
    if (op.wants(slot))
      op.fail("expected that nothing reads its output '" + std::string(slot) +
              "', which ONNX does not give");
}

}  // namespace onnx

}  // namespace lamina::inline LAMINA_ABI
