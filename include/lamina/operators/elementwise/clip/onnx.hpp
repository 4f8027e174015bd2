// SPDX-License-Identifier: Apache-2.0
// lamina/operators/elementwise/clip/onnx.hpp - limits for elements and norms, as ONNX nodes.
#pragma once

#include <lamina/core/config.hpp>

#include <string>

#include <lamina/io/onnx/onnx_functions.hpp>
#include <lamina/io/onnx/onnx_operator.hpp>

namespace lamina::inline LAMINA_ABI {

namespace onnx {

inline void add_elementwise_clip(onnx_operators& to) {
  to.add("clip", [](onnx_operator& op) {
    op.out("Out", limited(op, op.in("X"), op.real("min"), op.real("max"), op.type_of("X")));
  });
  to.add("clip_by_norm", [](onnx_operator& op) {
    const std::string& norm = length_of(op, op.in("X"), {}, 0);
    const std::string& most = op.number(op.real("max_norm"));
    // A NaN norm is not above the limit, so the factor is 1.
    const std::string& factor = op.node(
        "Where", {op.node("Greater", {norm, most}), op.node("Div", {most, norm}), op.number(1)});
    op.out("Out", "Mul", {op.in("X"), factor});
  });
}

}  // namespace onnx

}  // namespace lamina::inline LAMINA_ABI
