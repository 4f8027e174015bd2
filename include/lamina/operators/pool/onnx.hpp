// SPDX-License-Identifier: Apache-2.0
// lamina/operators/pool/onnx.hpp - pooling over windows of images, as ONNX nodes.
#pragma once

#include <lamina/core/config.hpp>

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <lamina/core/type_of.hpp>
#include <lamina/io/onnx/onnx_functions.hpp>
#include <lamina/io/onnx/onnx_operator.hpp>
#include <lamina/io/onnx/onnx_windows.hpp>

namespace lamina::inline LAMINA_ABI {

namespace onnx {

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

}  // namespace onnx

}  // namespace lamina::inline LAMINA_ABI
