// SPDX-License-Identifier: Apache-2.0
// lamina/operators/reduce/cumsum/onnx.hpp - cumulative sums, as ONNX nodes.
#pragma once

#include <lamina/core/config.hpp>

#include <lamina/io/onnx/onnx_operator.hpp>

namespace lamina::inline LAMINA_ABI {

namespace onnx {

inline void add_reduce_cumsum(onnx_operators& to) {
  to.add("cumsum", [](onnx_operator& op) {
    op.out("Out", "CumSum", {op.in("X"), op.whole(op.integer("axis", -1))},
           {{"exclusive", op.flag("exclusive")}, {"reverse", op.flag("reverse")}});
  });
}

}  // namespace onnx

}  // namespace lamina::inline LAMINA_ABI
