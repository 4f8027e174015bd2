// SPDX-License-Identifier: Apache-2.0
// lamina/operators/pool/onnx.hpp - operators of the family pool, as ONNX nodes.
#pragma once

#include <lamina/core/config.hpp>

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <lamina/core/compile_time/type_of.hpp>
#include <lamina/io/onnx/onnx_functions.hpp>
#include <lamina/io/onnx/onnx_operator.hpp>
#include <lamina/io/onnx/onnx_windows.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace onnx {

/// The elements [first, end) along an axis.
inline const std::string& part_of(onnx_operator& op, const std::string& x, std::int64_t first,
                                  std::int64_t end, std::int64_t axis) {
  return op.node("Slice", {x, op.list({first}), op.list({end}), op.list({axis})});
}
/// The maxima or means of windows [first, end) along an axis.
inline std::string reduced_windows(onnx_operator& op, const std::string& x, bool is_average,
                                   std::int64_t axis,
                                   const std::vector<std::pair<std::int64_t, std::int64_t>>& all) {
  std::vector<std::string> each;
  for (const auto& [first, end] : all) {
    const std::vector<std::string> inputs{part_of(op, x, first, end, axis), op.list({axis})};
    each.push_back(is_average ? op.node("ReduceMean", inputs, {{"keepdims", 1}})
                              : extreme(op, "ReduceMax", inputs, true, op.type_of("X")));
  }
  return each.size() == 1 ? each[0] : op.node("Concat", each, {{"axis", axis}});
}

inline void lower_pool(onnx_operator& op) {
  require_channels_first(op, "data_format");
  const bool is_average = op.string("pooling_type", "max") == "avg";
  if (op.flag("global_pooling"))
    return op.out("Out", is_average ? "GlobalAveragePool" : "GlobalMaxPool", {op.in("X")});
  const int sides = op.rank("X") - 2;
  const auto n = static_cast<std::size_t>(sides);
  const std::vector<std::int64_t> size = each_side(op, "ksize", n, 1);
  if (op.flag("adaptive")) {  // windows of several sizes: rows of the result first, then columns
    std::string x = op.in("X");
    for (int d = 0; d < sides; ++d) {
      const std::int64_t in = op.extent("X", 2 + d), out = size[static_cast<std::size_t>(d)];
      std::vector<std::pair<std::int64_t, std::int64_t>> windows;
      for (std::int64_t i = 0; i < out; ++i)
        windows.emplace_back(i * in / out, ((i + 1) * in + out - 1) / out);
      x = reduced_windows(op, x, is_average, 2 + d, windows);
    }
    return op.out("Out", x);
  }
  const std::vector<std::int64_t> strides = each_side(op, "strides", n, 1);
  std::vector<std::int64_t> pads = both_ends(each_side(op, "paddings", n, 0));
  std::string x = op.in("X");
  const bool exclusive = op.flag("exclusive", true);
  if (op.flag("ceil_mode")) {  // the last window may begin inside and end outside of the image
    for (int d = 0; d < sides; ++d) {
      const std::size_t i = static_cast<std::size_t>(d);
      const std::int64_t seen = (op.extent("Out", 2 + d) - 1) * strides[i] + size[i];
      pads[n + i] = std::max<std::int64_t>(0, seen - op.extent("X", 2 + d) - pads[i]);
    }
  }
  std::vector<onnx_attribute> window{{"kernel_shape", size}, {"strides", strides}, {"pads", pads}};
  if (is_average) window.emplace_back("count_include_pad", !exclusive);
  op.out("Out", is_average ? "AveragePool" : "MaxPool", {x}, window);
}

inline void add_pool_pool2d(onnx_operators& to) { to.add("pool2d", lower_pool); }

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

}}}  // namespace lamina::onnx
