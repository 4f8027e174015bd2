// SPDX-License-Identifier: Apache-2.0
// lamina/operators/activation/softmax/onnx.hpp - softmax, as ONNX nodes.
#pragma once

#include <lamina/core/config.hpp>

#include <lamina/io/onnx/onnx_operator.hpp>

namespace lamina::inline LAMINA_ABI {

namespace onnx {

inline void add_activation_softmax(onnx_operators& to) {
  to.add("softmax", [](onnx_operator& op) {
    op.out("Out", "Softmax", {op.in("X")}, {{"axis", op.integer("axis", -1)}});
  });
}

}  // namespace onnx

}  // namespace lamina::inline LAMINA_ABI
