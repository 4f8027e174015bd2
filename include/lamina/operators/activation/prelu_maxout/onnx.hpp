// SPDX-License-Identifier: Apache-2.0
// lamina/operators/activation/prelu_maxout/onnx.hpp - prelu and maxout, as ONNX nodes.
#pragma once

#include <lamina/core/config.hpp>

#include <cstdint>
#include <string>
#include <vector>

#include <lamina/io/onnx/onnx_functions.hpp>
#include <lamina/io/onnx/onnx_operator.hpp>

namespace lamina::inline LAMINA_ABI {

namespace onnx {

/// Reshapes groups of neighbouring channels to a new dimension, and takes the maximum over it.
inline void lower_maxout(onnx_operator& op) {
  const std::int64_t groups = op.integer("groups", 1);
  std::vector<std::int64_t> shape{0, op.extent("X", 1) / groups, groups};
  for (int d = 2; d < op.rank("X"); ++d) shape.push_back(op.extent("X", d));
  op.out("Out", "ReduceMax", {op.reshape(op.in("X"), shape), op.list({2})}, {{"keepdims", 0}});
}

inline void add_activation_prelu_maxout(onnx_operators& to) {
  to.add("prelu", [](onnx_operator& op) {
    // Alpha has a single slope, one per channel, or one per element of a row.
    const std::string& mode = op.string("mode", "all");
    std::vector<std::int64_t> shape{1};
    const std::vector<std::int64_t>& x = op.dims("X");
    if (mode == "channel") {
      shape = {op.extent("X", 1)};
      for (std::size_t d = 2; d < x.size(); ++d) shape.push_back(1);
    } else if (mode == "element") {
      shape.assign(x.begin() + 1, x.end());
    }
    const std::string &in = op.in("X"), &alpha = op.reshape(op.in("Alpha"), shape);
    if (!is_double(op)) return op.out("Out", "PRelu", {in, alpha});
    op.out("Out", above(op, in, 0, in, op.node("Mul", {in, alpha})));
  });
  to.add("maxout", lower_maxout);
}

}  // namespace onnx

}  // namespace lamina::inline LAMINA_ABI
