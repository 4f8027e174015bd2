// SPDX-License-Identifier: Apache-2.0
// lamina/operators/conv/onnx.hpp - convolutions, pooling, norms and sizes of images, as ONNX nodes.
#pragma once

#include <lamina/core/config.hpp>

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <lamina/io/onnx/onnx_operator.hpp>
#include <lamina/operators/elementwise/onnx.hpp>
#include <lamina/operators/matrix/onnx.hpp>
#include <lamina/operators/region/definition.hpp>
#include <lamina/operators/resize/definition.hpp>

namespace lamina::inline LAMINA_ABI {

namespace onnx {

/// In ONNX, channels are dimension 1.
inline void require_channels_first(onnx_operator& op, const char* attribute) {
  const std::string layout = op.string(attribute, "NCHW");
  if (layout != "NCHW" && layout != "NCDHW" && layout != "AnyLayout")
    op.fail("expected " + std::string(attribute) + " NCHW, found " + layout);
  const std::string algorithm = op.string("padding_algorithm", "EXPLICIT");
  if (algorithm != "EXPLICIT") op.fail("expected padding_algorithm EXPLICIT, found " + algorithm);
}

/// A number for each dimension of the image.
inline std::vector<std::int64_t> each_side(const onnx_operator& op, const char* name,
                                           std::size_t sides, std::int64_t otherwise) {
  std::vector<std::int64_t> values = op.integers(name);
  if (values.empty()) values.assign(sides, otherwise);
  if (values.size() != sides)
    op.fail("expected " + std::to_string(sides) + " numbers in attribute '" + name + "', found " +
            std::to_string(values.size()));
  return values;
}
/// Paddings of both ends: all of the first ends, then all of the others.
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
  // The rows and columns that output_size adds after those of the least size.
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

/// The elements [first, end) of a side.
inline std::string part_of(onnx_operator& op, const std::string& x, std::int64_t first,
                           std::int64_t end, std::int64_t axis) {
  return op.node("Slice", {x, op.list({first}), op.list({end}), op.list({axis})});
}
/// The largest or mean elements of windows of a side, each [first, end).
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
  if (op.flag("adaptive")) {  // windows of several sizes: rows first, then columns of the result
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

inline void lower_batch_norm(onnx_operator& op) {
  require_channels_first(op, "data_layout");
  if (!op.flag("is_test") && !op.flag("use_global_stats"))
    op.fail("expected moving means, found those of the batch, which are of training");
  refuse_outputs(op, {"SavedMean", "SavedVariance"});
  op.out("Y", "BatchNormalization",
         {op.in("X"), op.in("Scale"), op.in("Bias"), op.in("Mean"), op.in("Variance")},
         {{"epsilon", op.real("epsilon", 1e-5F)}});
}
inline void lower_group_norm(onnx_operator& op) {
  require_channels_first(op, "data_layout");
  refuse_outputs(op, {"Mean", "Variance"});
  const std::vector<std::int64_t> channels{op.extent("X", 1)};
  std::vector<onnx_attribute> attributes{{"num_groups", op.integer("groups", 1)},
                                         {"epsilon", op.real("epsilon", 1e-5F)}};
  // Statistics are in float unless the node says otherwise.
  if (is_double(op)) attributes.emplace_back("stash_type", onnx_type_of(dtype::float64));
  op.out("Y", "GroupNormalization",
         {op.in("X"), norm_parameter(op, "Scale", 1, channels),
          norm_parameter(op, "Bias", 0, channels)},
         attributes);
}
inline void lower_instance_norm(onnx_operator& op) {
  refuse_outputs(op, {"SavedMean", "SavedVariance"});
  const std::vector<std::int64_t> channels{op.extent("X", 1)};
  op.out("Y", "InstanceNormalization",
         {op.in("X"), norm_parameter(op, "Scale", 1, channels),
          norm_parameter(op, "Bias", 0, channels)},
         {{"epsilon", op.real("epsilon", 1e-5F)}});
}
inline void lower_lrn(onnx_operator& op) {
  refuse_outputs(op, {"MidOut"});
  const std::int64_t n = op.integer("n", 5);  // ONNX divides alpha by it
  op.out("Out", "LRN", {op.in("X")},
         {{"size", n},
          {"alpha", op.real("alpha", 1e-4F) * static_cast<float>(n)},
          {"beta", op.real("beta", 0.75F)},
          {"bias", op.real("k", 2)}});
}

/// The element that each of `out` along a side comes from: rounding in float decides, and is done
/// here once and for all.
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
/// A side of one element takes the first element of the source. pytorch_half_pixel does this too;
/// half_pixel, which is otherwise the same, does not.
inline void lower_bilinear(onnx_operator& op) {
  const char* mode = op.flag("align_corners", true)     ? "align_corners"
                     : op.integer("align_mode", 1) == 0 ? "pytorch_half_pixel"
                                                        : "asymmetric";
  const std::string whole = op.node("Shape", {op.in("X")}, {{"start", 0}, {"end", 2}});
  const std::string sizes = op.node(
      "Concat", {whole, op.list({op.extent("Out", 2), op.extent("Out", 3)})}, {{"axis", 0}});
  op.out("Out", "Resize", {op.in("X"), "", "", sizes},
         {{"mode", "linear"}, {"coordinate_transformation_mode", mode}});
}

inline void lower_pad2d(onnx_operator& op) {
  if (op.has("Paddings")) op.fail("expected paddings as attribute, found them in a variable");
  require_channels_first(op, "data_format");
  const std::vector<std::int64_t> p = each_side(op, "paddings", 4, 0);  // top, bottom, left, right
  const std::string mode = op.string("mode", "constant");
  std::vector<std::string> inputs{op.in("X"), op.list({0, 0, p[0], p[2], 0, 0, p[1], p[3]})};
  if (mode == "constant") inputs.push_back(op.number(op.real("pad_value"), op.type_of("X")));
  op.out("Out", "Pad", inputs, {{"mode", mode}});
}

/// Groups of neighbouring channels become a dimension, of which the largest stays.
inline void lower_maxout(onnx_operator& op) {
  const std::int64_t groups = op.integer("groups", 1);
  std::vector<std::int64_t> shape{0, op.extent("X", 1) / groups, groups};
  for (int d = 2; d < op.rank("X"); ++d) shape.push_back(op.extent("X", d));
  op.out("Out", "ReduceMax", {op.reshape(op.in("X"), shape), op.list({2})}, {{"keepdims", 0}});
}

/// ONNX counts positions in the whole batch.
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
  const std::string rows = op.node("Shape", {op.in("X")}, {{"start", 0}, {"end", 2}});
  const std::string shape = op.node("Concat", {rows, op.list({height * width})}, {{"axis", 0}});
  const std::string zeros = op.node("Expand", {op.number(0, op.type_of("X")), shape});
  const std::string positions = op.reshape(op.cast(op.in("Indices"), dtype::int64), {0, 0, -1});
  const std::string all = op.node(
      "ScatterElements", {zeros, positions, op.reshape(op.in("X"), {0, 0, -1})}, {{"axis", 2}});
  op.out("Out", "Reshape", {all, op.list({0, 0, height, width})});
}

inline void lower_spp(onnx_operator& op) {
  const bool is_average = op.string("pooling_type", "max") == "avg";
  const int height = static_cast<int>(op.integer("pyramid_height", 1));
  std::vector<std::string> levels;
  for (int level = 0; level < height; ++level) {
    std::string x = op.in("X");
    for (int d = 2; d < 4; ++d) {
      std::vector<std::pair<std::int64_t, std::int64_t>> windows;
      for (int k = 0; k < 1 << level; ++k) {
        const image_range r = pyramid_window(k, 1 << level, static_cast<int>(op.extent("X", d)));
        windows.emplace_back(r.begin, r.end);
      }
      x = reduced_windows(op, x, is_average, d, windows);
    }
    levels.push_back(op.node("Flatten", {x}, {{"axis", 1}}));
  }
  op.out("Out", "Concat", levels, {{"axis", 1}});
}

inline void add_image(onnx_operators& to) {
  for (const char* type : {"conv2d", "depthwise_conv2d", "conv3d"}) to.add(type, lower_conv);
  to.add("conv2d_transpose", lower_conv_transpose);
  to.add("pool2d", lower_pool);
  to.add("pool3d", lower_pool);
  to.add("max_pool2d_with_index", lower_indexed_pool);
  to.add("unpool", lower_unpool);
  to.add("batch_norm", lower_batch_norm);
  to.add("group_norm", lower_group_norm);
  to.add("instance_norm", lower_instance_norm);
  to.add("lrn", lower_lrn);
  to.add("bilinear_interp", lower_bilinear);
  to.add("nearest_interp", [](onnx_operator& op) {
    op.out("Out", nearest_along(op, nearest_along(op, op.in("X"), 2), 3));
  });
  to.add("pad2d", lower_pad2d);
  to.add("maxout", lower_maxout);
  to.add("spp", lower_spp);
}

}  // namespace onnx

}  // namespace lamina::inline LAMINA_ABI
