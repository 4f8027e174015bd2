// SPDX-License-Identifier: Apache-2.0
// lamina/operators/norm/lrn/onnx.hpp - local response normalisation, as ONNX nodes.
#pragma once

#include <lamina/core/config.hpp>

#include <cstdint>

#include <lamina/io/onnx/onnx_operator.hpp>
#include <lamina/operators/norm/onnx.hpp>

namespace lamina::inline LAMINA_ABI {

namespace onnx {

inline void lower_lrn(onnx_operator& op) {
  refuse_outputs(op, {"MidOut"});
  const std::int64_t n = op.integer("n", 5);  // ONNX divides alpha by n
  op.out("Out", "LRN", {op.in("X")},
         {{"size", n},
          {"alpha", op.real("alpha", 1e-4F) * static_cast<float>(n)},
          {"beta", op.real("beta", 0.75F)},
          {"bias", op.real("k", 2)}});
}

inline void add_norm_lrn(onnx_operators& to) { to.add("lrn", lower_lrn); }

}  // namespace onnx

}  // namespace lamina::inline LAMINA_ABI
