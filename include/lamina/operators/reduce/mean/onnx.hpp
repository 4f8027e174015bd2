// SPDX-License-Identifier: Apache-2.0
// lamina/operators/reduce/mean/onnx.hpp - the mean of all elements, as ONNX nodes.
#pragma once

#include <lamina/core/config.hpp>

#include <lamina/io/onnx/onnx_operator.hpp>
#include <lamina/operators/reduce/onnx.hpp>

namespace lamina::inline LAMINA_ABI {

namespace onnx {

inline void add_reduce_mean(onnx_operators& to) {
  to.add("mean", [](onnx_operator& op) { reduce(op, "ReduceMean", {}, false); });
}

}  // namespace onnx

}  // namespace lamina::inline LAMINA_ABI
