// SPDX-License-Identifier: Apache-2.0
// lamina/operators/elementwise/sum/onnx.hpp - sums and multiples, as ONNX nodes.
#pragma once

#include <lamina/core/config.hpp>

#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include <lamina/io/onnx/onnx_fold.hpp>
#include <lamina/io/onnx/onnx_functions.hpp>
#include <lamina/io/onnx/onnx_operator.hpp>

namespace lamina::inline LAMINA_ABI {

namespace onnx {

inline void add_elementwise_sum(onnx_operators& to) {
  to.add("scale", [](onnx_operator& op) {
    const double factor = op.real("scale", 1), bias = op.real("bias");
    const bool after = op.flag("bias_after_scale", true);
    const dtype type = op.type_of("X");
    if (is_whole(type) && (factor != std::floor(factor) || bias != std::floor(bias))) {
      // Integers are scaled in double, and the result is truncated.
      const std::string& y = affine(op, op.cast(op.in("X"), dtype::float64), factor,
                                    after ? bias : factor * bias, dtype::float64);
      return op.out("Out", op.cast(y, type));
    }
    op.out("Out", affine(op, op.in("X"), factor, after ? bias : factor * bias, op.type_of("X")));
  });
  to.add("sum", [](onnx_operator& op) {
    const std::vector<std::string> all = op.all("X");
    if (all.size() == 1 || is_floating(op.type_of("X")))
      return all.size() == 1 ? op.out("Out", all[0]) : op.out("Out", "Sum", all);
    std::string sum = all.at(0);
    for (std::size_t i = 1; i < all.size(); ++i) sum = op.node("Add", {sum, all[i]});
    op.out("Out", sum);
  });
  to.add("minus", [](onnx_operator& op) { op.out("Out", "Sub", {op.in("X"), op.in("Y")}); });
  fold(to, "scale", [](const onnx_operator& op, auto x, auto) {
    const double factor = op.real("scale", 1), bias = op.real("bias");
    const double y = static_cast<double>(x);
    return static_cast<std::int64_t>(op.flag("bias_after_scale", true) ? factor * y + bias
                                                                       : factor * (y + bias));
  });
}

}  // namespace onnx

}  // namespace lamina::inline LAMINA_ABI
