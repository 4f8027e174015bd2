// SPDX-License-Identifier: Apache-2.0
// lamina/operators/conv/onnx.hpp - convolutions, as ONNX nodes.
#pragma once

#include <lamina/core/config.hpp>

#include <cstdint>
#include <string>
#include <vector>

#include <lamina/io/onnx/onnx_operator.hpp>
#include <lamina/io/onnx/onnx_windows.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace onnx {

inline void lower_conv(onnx_operator& op) {
  require_channels_first(op, "data_format");
  std::vector<std::string> inputs{op.in("Input"), op.in("Filter")};
  if (op.has("Bias")) inputs.push_back(op.in("Bias"));
  const std::vector<onnx_attribute> window =
      window_of(op, static_cast<std::size_t>(op.rank("Input") - 2));
  if (!op.has("ResidualData")) return op.out("Output", "Conv", inputs, window);
  op.out("Output", "Add", {op.node("Conv", inputs, window), op.in("ResidualData")});
}

inline void lower_conv_transpose(onnx_operator& op) {
  require_channels_first(op, "data_format");
  std::vector<std::string> inputs{op.in("Input"), op.in("Filter")};
  if (op.has("Bias")) inputs.push_back(op.in("Bias"));
  std::vector<onnx_attribute> window = window_of(op, 2);
  // ONNX's output_padding: by how many rows and columns the output is larger than the smallest one
  // of these strides, paddings and dilations.
  const auto strides = each_side(op, "strides", 2, 1), paddings = each_side(op, "paddings", 2, 0),
             dilations = each_side(op, "dilations", 2, 1);
  std::vector<std::int64_t> more;
  for (int d = 0; d < 2; ++d) {
    const std::size_t i = static_cast<std::size_t>(d);
    const std::int64_t least = (op.extent("Input", 2 + d) - 1) * strides[i] - 2 * paddings[i] +
                               dilations[i] * (op.extent("Filter", 2 + d) - 1) + 1;
    more.push_back(op.extent("Output", 2 + d) - least);
  }
  window.emplace_back("output_padding", more);
  op.out("Output", "ConvTranspose", inputs, window);
}

inline void add_image(onnx_operators& to) {
  for (const char* type : {"conv2d", "depthwise_conv2d", "conv3d"}) to.add(type, lower_conv);
  to.add("conv2d_transpose", lower_conv_transpose);
}

}}}  // namespace lamina::onnx
