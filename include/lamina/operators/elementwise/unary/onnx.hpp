// SPDX-License-Identifier: Apache-2.0
// lamina/operators/elementwise/unary/onnx.hpp - elementary functions, as ONNX nodes.
#pragma once

#include <lamina/core/config.hpp>

#include <string>
#include <utility>

#include <lamina/io/onnx/onnx_functions.hpp>
#include <lamina/io/onnx/onnx_operator.hpp>

namespace lamina::inline LAMINA_ABI {

namespace onnx {

inline void add_elementwise_unary(onnx_operators& to) {
  for (const auto& [type, node] : {std::pair{"exp", "Exp"},
                                   {"log", "Log"},
                                   {"sqrt", "Sqrt"},
                                   {"abs", "Abs"},
                                   {"ceil", "Ceil"},
                                   {"floor", "Floor"},
                                   {"sin", "Sin"},
                                   {"cos", "Cos"},
                                   {"asin", "Asin"},
                                   {"acos", "Acos"},
                                   {"atan", "Atan"},
                                   {"reciprocal", "Reciprocal"},
                                   {"sign", "Sign"}})
    to.add(type, same_as(node));
  to.add("square", [](onnx_operator& op) { op.out("Out", "Mul", {op.in("X"), op.in("X")}); });
  to.add("rsqrt",
         [](onnx_operator& op) { op.out("Out", "Reciprocal", {op.node("Sqrt", {op.in("X")})}); });
  to.add("round", [](onnx_operator& op) {
    // Rounds halves away from 0. ONNX's Round rounds halves to even and gives the same result for
    // all other numbers.
    const std::string &x = op.in("X"), &even = op.node("Round", {x});
    const std::string& half = op.number(0.5);
    const std::string& is_half =
        op.node("Equal", {op.node("Abs", {op.node("Sub", {x, even})}), half});
    const std::string& away = op.node("Add", {x, op.node("Mul", {op.node("Sign", {x}), half})});
    op.out("Out", "Where", {is_half, away, even});
  });
}

}  // namespace onnx

}  // namespace lamina::inline LAMINA_ABI
