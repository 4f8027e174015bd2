// SPDX-License-Identifier: Apache-2.0
// lamina/operators/elementwise/compare/onnx.hpp - comparisons and logic, as ONNX nodes.
#pragma once

#include <lamina/core/config.hpp>

#include <utility>

#include <lamina/io/onnx/onnx_broadcast.hpp>
#include <lamina/io/onnx/onnx_fold.hpp>
#include <lamina/io/onnx/onnx_operator.hpp>

namespace lamina::inline LAMINA_ABI {

namespace onnx {

inline void add_elementwise_compare(onnx_operators& to) {
  for (const auto& [type, node] : {std::pair{"less_than", "Less"},
                                   {"less_equal", "LessOrEqual"},
                                   {"greater_than", "Greater"},
                                   {"greater_equal", "GreaterOrEqual"},
                                   {"equal", "Equal"}})
    to.add(type, of_two(node));
  to.add("not_equal", [](onnx_operator& op) {
    op.out("Out", "Not", {op.node("Equal", {op.in("X"), aligned(op)})});
  });
  to.add("logical_and", logical("And"));
  to.add("logical_or", logical("Or"));
  to.add("logical_xor", logical("Xor"));
  to.add("logical_not", logical("Not"));
  fold(to, "less_than", [](const onnx_operator&, auto x, auto y) { return x < y; });
  fold(to, "less_equal", [](const onnx_operator&, auto x, auto y) { return x <= y; });
  fold(to, "greater_than", [](const onnx_operator&, auto x, auto y) { return x > y; });
  fold(to, "greater_equal", [](const onnx_operator&, auto x, auto y) { return x >= y; });
  fold(to, "equal", [](const onnx_operator&, auto x, auto y) { return x == y; });
  fold(to, "not_equal", [](const onnx_operator&, auto x, auto y) { return x != y; });
  fold(to, "logical_and", [](const onnx_operator&, auto x, auto y) { return x && y; });
  fold(to, "logical_or", [](const onnx_operator&, auto x, auto y) { return x || y; });
  fold(to, "logical_not", [](const onnx_operator&, auto x, auto) { return !x; });
}

}  // namespace onnx

}  // namespace lamina::inline LAMINA_ABI
