// SPDX-License-Identifier: Apache-2.0
// lamina/operators/norm/layer_norm/onnx.hpp - layer_norm, as ONNX nodes.
#pragma once

#include <lamina/core/config.hpp>

#include <cstdint>
#include <vector>

#include <lamina/io/onnx/onnx_operator.hpp>
#include <lamina/operators/norm/onnx.hpp>

namespace lamina::inline LAMINA_ABI {

namespace onnx {

inline void lower_layer_norm(onnx_operator& op) {
  refuse_outputs(op, {"Mean", "Variance"});
  const int first = static_cast<int>(op.integer("begin_norm_axis", 1));
  std::vector<std::int64_t> shape;
  for (int d = first; d < op.rank("X"); ++d) shape.push_back(op.extent("X", d));
  op.out("Y", "LayerNormalization",
         {op.in("X"), norm_parameter(op, "Scale", 1, shape), norm_parameter(op, "Bias", 0, shape)},
         {{"axis", first}, {"epsilon", op.real("epsilon", 1e-5F)}});
}

inline void add_norm_layer_norm(onnx_operators& to) { to.add("layer_norm", lower_layer_norm); }

}  // namespace onnx

}  // namespace lamina::inline LAMINA_ABI
