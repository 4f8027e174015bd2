// SPDX-License-Identifier: Apache-2.0
// lamina/operators/control/print/onnx.hpp - print, which ONNX leaves out.
#pragma once

#include <lamina/core/config.hpp>

#include <lamina/io/onnx/onnx_operator.hpp>

namespace lamina::inline LAMINA_ABI {

namespace onnx {

inline void add_control_print(onnx_operators& to) {
  to.add("print", [](onnx_operator& op) { op.out("Out", op.in("In")); });
}

}  // namespace onnx

}  // namespace lamina::inline LAMINA_ABI
