// SPDX-License-Identifier: Apache-2.0
// lamina/operators/norm/norm/onnx.hpp - vectors scaled to length 1, as ONNX nodes.
#pragma once

#include <lamina/core/config.hpp>

#include <lamina/io/onnx/onnx_functions.hpp>
#include <lamina/io/onnx/onnx_operator.hpp>

namespace lamina::inline LAMINA_ABI {

namespace onnx {

inline void lower_norm(onnx_operator& op) {
  const auto [length, direction] =
      direction_of(op, op.in("X"), {op.integer("axis", -1)}, op.real("epsilon", 1e-10F));
  if (op.wants("Norm")) op.out("Norm", length);
  op.out("Out", direction);
}

inline void add_norm_norm(onnx_operators& to) { to.add("norm", lower_norm); }

}  // namespace onnx

}  // namespace lamina::inline LAMINA_ABI
