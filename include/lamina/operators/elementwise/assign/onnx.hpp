// SPDX-License-Identifier: Apache-2.0
// lamina/operators/elementwise/assign/onnx.hpp - copies, casts and counters, as ONNX nodes.
#pragma once

#include <lamina/core/config.hpp>

#include <cstdint>

#include <lamina/io/onnx/onnx_fold.hpp>
#include <lamina/io/onnx/onnx_operator.hpp>

namespace lamina::inline LAMINA_ABI {

namespace onnx {

inline void add_elementwise_assign(onnx_operators& to) {
  to.add("assign", [](onnx_operator& op) { op.out("Out", op.in("X")); });
  to.add("cast", [](onnx_operator& op) {
    op.out("Out", "Cast", {op.in("X")}, {{"to", onnx_type_of(op.type_of("Out"))}});
  });
  to.add("increment", [](onnx_operator& op) {
    op.out("Out", "Add", {op.in("X"), op.number(op.real("step", 1), op.type_of("X"))});
  });
  fold(to, "assign", [](const onnx_operator&, auto x, auto) { return x; });
  fold(to, "cast", [](const onnx_operator&, auto x, auto) { return x; });
  fold(to, "increment", [](const onnx_operator& op, auto x, auto) {
    return x + static_cast<std::int64_t>(op.real("step", 1));
  });
}

}  // namespace onnx

}  // namespace lamina::inline LAMINA_ABI
