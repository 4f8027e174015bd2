// SPDX-License-Identifier: Apache-2.0
// lamina/operators/elementwise/binary/onnx.hpp - arithmetic of two operands, as ONNX nodes.
#pragma once

#include <lamina/core/config.hpp>

#include <string>
#include <utility>

#include <lamina/io/fluid/fluid_attributes.hpp>
#include <lamina/io/onnx/onnx_broadcast.hpp>
#include <lamina/io/onnx/onnx_fold.hpp>
#include <lamina/io/onnx/onnx_functions.hpp>
#include <lamina/io/onnx/onnx_operator.hpp>

namespace lamina::inline LAMINA_ABI {

namespace onnx {

inline void add_elementwise_binary(onnx_operators& to) {
  for (const auto& [type, node] : {std::pair{"elementwise_add", "Add"},
                                   {"elementwise_sub", "Sub"},
                                   {"elementwise_div", "Div"},
                                   {"elementwise_max", "Max"},
                                   {"elementwise_min", "Min"},
                                   {"elementwise_pow", "Pow"}})
    to.add(type, of_two(node));
  // The remainder has the sign of Y, because the quotient is rounded down.
  to.add("elementwise_mod", [](onnx_operator& op) {
    const std::string &x = op.in("X"), &y = aligned(op);
    if (is_whole(op.type_of("X"))) return op.out("Out", "Mod", {x, y});
    // The remainder of C's fmod is exact and has the sign of X.
    const std::string &rest = op.node("Mod", {x, y}, {{"fmod", 1}}), &zero = op.number(0);
    const std::string& other_side =
        op.node("Xor", {op.node("Less", {rest, zero}), op.node("Less", {y, zero})});
    const std::string& is_rest = op.node("Not", {op.node("Equal", {rest, zero})});
    op.out("Out", "Where",
           {op.node("And", {is_rest, other_side}), op.node("Add", {rest, y}), rest});
  });
  to.add("elementwise_floordiv", [](onnx_operator& op) {
    const std::string &x = op.in("X"), &y = aligned(op);
    if (!is_whole(op.type_of("X"))) return op.out("Out", "Floor", {op.node("Div", {x, y})});
    op.out("Out", "Div", {op.node("Sub", {x, op.node("Mod", {x, y})}), y});
  });
  // A product of Fluid with an attribute is an elementwise_keep: 0 where the mask is 0, for each X.
  to.add("elementwise_mul", [](onnx_operator& op) {
    if (!op.flag(detail::keeps_attribute)) return of_two("Mul")(op);
    const dtype type = op.type_of("X");
    const std::string& kept = op.cast(aligned(op), dtype::boolean);
    op.out("Out", "Where", {kept, op.in("X"), op.number(0, type)});
  });
  fold(to, "elementwise_add", [](const onnx_operator&, auto x, auto y) { return x + y; });
  fold(to, "elementwise_sub", [](const onnx_operator&, auto x, auto y) { return x - y; });
}

}  // namespace onnx

}  // namespace lamina::inline LAMINA_ABI
