// SPDX-License-Identifier: Apache-2.0
// lamina/operators/pool/pool2d/onnx.hpp - pooling over images, as ONNX nodes.
#pragma once

#include <lamina/core/config.hpp>

#include <lamina/io/onnx/onnx_operator.hpp>
#include <lamina/operators/pool/onnx.hpp>

namespace lamina::inline LAMINA_ABI {

namespace onnx {

inline void add_pool_pool2d(onnx_operators& to) { to.add("pool2d", lower_pool); }

}  // namespace onnx

}  // namespace lamina::inline LAMINA_ABI
