// SPDX-License-Identifier: Apache-2.0
// lamina/io/onnx/onnx_windows.hpp - strides and paddings of windows over images.
#pragma once

#include <lamina/core/config.hpp>

#include <cstdint>
#include <string>
#include <vector>

#include <lamina/io/onnx/onnx_operator.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace onnx {

/// Throws unless channels are dimension 1, as ONNX requires.
inline void require_channels_first(onnx_operator& op, const char* attribute) {
  const std::string& layout = op.string(attribute, "NCHW");
  if (layout != "NCHW" && layout != "NCDHW" && layout != "AnyLayout")
    op.fail("expected " + std::string(attribute) + " NCHW, found " + layout);
  const std::string& algorithm = op.string("padding_algorithm", "EXPLICIT");
  if (algorithm != "EXPLICIT") op.fail("expected padding_algorithm EXPLICIT, found " + algorithm);
}

/// Returns a number for each dimension of the image.
inline std::vector<std::int64_t> each_side(const onnx_operator& op, const char* name,
                                           std::size_t sides, std::int64_t otherwise) {
  std::vector<std::int64_t> values = op.integers(name);
  if (values.empty()) values.assign(sides, otherwise);
  if (values.size() != sides)
    op.fail("expected " + std::to_string(sides) + " numbers in attribute '" + name + "', found " +
            std::to_string(values.size()));
  return values;
}
/// Returns paddings in the order of ONNX: those at all beginnings, then those at all ends.
inline std::vector<std::int64_t> both_ends(std::vector<std::int64_t> paddings) {
  const std::size_t n = paddings.size();
  for (std::size_t i = 0; i < n; ++i) paddings.push_back(paddings[i]);
  return paddings;
}

inline std::vector<onnx_attribute> window_of(const onnx_operator& op, std::size_t sides) {
  return {{"strides", each_side(op, "strides", sides, 1)},
          {"pads", both_ends(each_side(op, "paddings", sides, 0))},
          {"dilations", each_side(op, "dilations", sides, 1)},
          {"group", op.integer("groups", 1)}};
}

}}}  // namespace lamina::onnx
