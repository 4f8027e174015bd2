// SPDX-License-Identifier: Apache-2.0
// lamina/operators/norm/batch_norm/onnx.hpp - batch_norm, as ONNX nodes.
#pragma once

#include <lamina/core/config.hpp>

#include <lamina/core/rows.hpp>
#include <lamina/io/onnx/onnx_operator.hpp>
#include <lamina/io/onnx/onnx_windows.hpp>
#include <lamina/operators/norm/onnx.hpp>

namespace lamina::inline LAMINA_ABI {

namespace onnx {

inline void lower_batch_norm(onnx_operator& op) {
  require_channels_first(op, "data_layout");
  if (!op.flag("is_test") && !op.flag("use_global_stats"))
    op.fail("expected moving means, found those of the batch, which are of training");
  refuse_outputs(op, {"SavedMean", "SavedVariance"});
  op.out("Y", "BatchNormalization",
         {op.in("X"), op.in("Scale"), op.in("Bias"), op.in("Mean"), op.in("Variance")},
         {{"epsilon", op.real("epsilon", 1e-5F)}});
}

inline void add_norm_batch_norm(onnx_operators& to) { to.add("batch_norm", lower_batch_norm); }

}  // namespace onnx

}  // namespace lamina::inline LAMINA_ABI
