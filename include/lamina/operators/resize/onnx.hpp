// SPDX-License-Identifier: Apache-2.0
// lamina/operators/resize/onnx.hpp - resizing and padding of images, as ONNX nodes.
#pragma once

#include <lamina/core/config.hpp>

#include <cstdint>
#include <string>
#include <vector>

#include <lamina/io/onnx/onnx_operator.hpp>
#include <lamina/io/onnx/onnx_windows.hpp>
#include <lamina/operators/resize/definition.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace onnx {

/// Selects the source element of each of the `out` elements along a side. The indices depend on
/// rounding in float, so they are computed here and stored as constants.
inline std::string nearest_along(onnx_operator& op, const std::string& x, int axis) {
  const std::int64_t in = op.extent("X", axis), out = op.extent("Out", axis);
  if (in == out) return x;
  std::vector<std::int64_t> from;
  for (int k = 0; k < out; ++k)
    from.push_back(position_between(k, static_cast<int>(in), static_cast<int>(out), true,
                                    op.flag("align_corners", true), 0)
                       .low);
  return op.node("Gather", {x, op.list(from)}, {{"axis", axis}});
}
/// A side with a single result element takes the first source element. ONNX's mode
/// pytorch_half_pixel does this too; half_pixel, which is otherwise the same, does not.
inline void lower_bilinear(onnx_operator& op) {
  const char* mode = op.flag("align_corners", true)     ? "align_corners"
                     : op.integer("align_mode", 1) == 0 ? "pytorch_half_pixel"
                                                        : "asymmetric";
  const std::string& whole = op.node("Shape", {op.in("X")}, {{"start", 0}, {"end", 2}});
  const std::string& sizes = op.node(
      "Concat", {whole, op.list({op.extent("Out", 2), op.extent("Out", 3)})}, {{"axis", 0}});
  op.out("Out", "Resize", {op.in("X"), "", "", sizes},
         {{"mode", "linear"}, {"coordinate_transformation_mode", mode}});
}

inline void lower_pad2d(onnx_operator& op) {
  if (op.has("Paddings")) op.fail("expected paddings as attribute, found them in a variable");
  require_channels_first(op, "data_format");
  const std::vector<std::int64_t> p = each_side(op, "paddings", 4, 0);  // top, bottom, left, right
  const std::string& mode = op.string("mode", "constant");
  std::vector<std::string> inputs{op.in("X"), op.list({0, 0, p[0], p[2], 0, 0, p[1], p[3]})};
  if (mode == "constant") inputs.push_back(op.number(op.real("pad_value"), op.type_of("X")));
  op.out("Out", "Pad", inputs, {{"mode", mode}});
}

inline void add_resize(onnx_operators& to) {
  to.add("bilinear_interp", lower_bilinear);
  to.add("nearest_interp", [](onnx_operator& op) {
    op.out("Out", nearest_along(op, nearest_along(op, op.in("X"), 2), 3));
  });
  to.add("pad2d", lower_pad2d);
}

}}}  // namespace lamina::onnx
