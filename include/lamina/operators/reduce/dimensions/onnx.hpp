// SPDX-License-Identifier: Apache-2.0
// lamina/operators/reduce/dimensions/onnx.hpp - reductions along dimensions, as ONNX nodes.
#pragma once

#include <lamina/core/config.hpp>

#include <lamina/io/onnx/onnx_operator.hpp>
#include <lamina/operators/reduce/onnx.hpp>

namespace lamina::inline LAMINA_ABI {

namespace onnx {

inline void add_reduce_dimensions(onnx_operators& to) {
  to.add("reduce_sum", reduction("ReduceSum"));
  to.add("reduce_mean", reduction("ReduceMean"));
  to.add("reduce_max", reduction("ReduceMax"));
  to.add("reduce_min", reduction("ReduceMin"));
  to.add("reduce_prod", reduction("ReduceProd"));
  to.add("reduce_all", reduction("ReduceMin", true));
  to.add("reduce_any", reduction("ReduceMax", true));
}

}  // namespace onnx

}  // namespace lamina::inline LAMINA_ABI
