// SPDX-License-Identifier: Apache-2.0
// lamina/operators/pool/pool3d/onnx.hpp - pooling over volumes, maxima with their positions, and
// their inverse, as ONNX nodes.
#pragma once

#include <lamina/core/config.hpp>

#include <cstdint>
#include <string>
#include <vector>

#include <lamina/core/type_of.hpp>
#include <lamina/io/onnx/onnx_operator.hpp>
#include <lamina/io/onnx/onnx_windows.hpp>
#include <lamina/operators/pool/onnx.hpp>

namespace lamina::inline LAMINA_ABI {

namespace onnx {

/// Converts positions: ONNX counts them over the whole batch, Fluid within a channel.
inline void lower_indexed_pool(onnx_operator& op) {
  if (op.flag("global_pooling") || op.flag("adaptive"))
    op.fail("expected windows of one size, found those of a global or adaptive pool");
  const std::vector<std::string> found =
      op.nodes("MaxPool", {op.in("X")}, 2,
               {{"kernel_shape", each_side(op, "ksize", 2, 1)},
                {"strides", each_side(op, "strides", 2, 1)},
                {"pads", both_ends(each_side(op, "paddings", 2, 0))}});
  if (op.wants("Out")) op.out("Out", found[0]);
  const std::int64_t plane = op.extent("X", 2) * op.extent("X", 3);
  if (op.wants("Mask"))
    op.out("Mask", op.cast(op.node("Mod", {found[1], op.list({plane})}), dtype::int32));
}
inline void lower_unpool(onnx_operator& op) {
  const std::int64_t height = op.extent("Out", 2), width = op.extent("Out", 3);
  const std::string& rows = op.node("Shape", {op.in("X")}, {{"start", 0}, {"end", 2}});
  const std::string& shape = op.node("Concat", {rows, op.list({height * width})}, {{"axis", 0}});
  const std::string& zeros = op.node("Expand", {op.number(0, op.type_of("X")), shape});
  const std::string& positions = op.reshape(op.cast(op.in("Indices"), dtype::int64), {0, 0, -1});
  const std::string& all = op.node(
      "ScatterElements", {zeros, positions, op.reshape(op.in("X"), {0, 0, -1})}, {{"axis", 2}});
  op.out("Out", "Reshape", {all, op.list({0, 0, height, width})});
}

inline void add_pool_pool3d(onnx_operators& to) {
  to.add("pool3d", lower_pool);
  to.add("max_pool2d_with_index", lower_indexed_pool);
  to.add("unpool", lower_unpool);
}

}  // namespace onnx

}  // namespace lamina::inline LAMINA_ABI
