// SPDX-License-Identifier: Apache-2.0
// lamina/io/onnx_region.hpp - regions and windows of images as sequences, as ONNX nodes.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include <lamina/io/onnx_image.hpp>
#include <lamina/io/onnx_operator.hpp>
#include <lamina/io/onnx_sequence.hpp>

namespace lamina {

namespace onnx {

/// ONNX has the number of its image before the corners of each region.
inline void lower_roi_pool(onnx_operator& op) {
  if (op.wants("Argmax")) op.fail("expected that nothing reads Argmax, which ONNX has not");
  const sequence_places at = places_in(op, "ROIs");
  const std::string image = column(op, op.cast(at.id, op.type_of("ROIs")));
  const std::string regions = op.node("Concat", {image, op.in("ROIs")}, {{"axis", 1}});
  const std::vector<std::int64_t> size{op.integer("pooled_height", 1),
                                       op.integer("pooled_width", 1)};
  op.out("Out", "MaxRoiPool", {op.in("X"), regions},
         {{"pooled_shape", size}, {"spatial_scale", op.real("spatial_scale", 1)}});
  op.program().set_lengths(op.name_of_output("Out"), at.lengths);
}

inline void lower_roi_align(onnx_operator& op) {
  const sequence_places at = places_in(op, "ROIs");
  op.out("Out", "RoiAlign", {op.in("X"), op.in("ROIs"), op.cast(at.id, dtype::int64)},
         {{"coordinate_transformation_mode", "output_half_pixel"},
          {"output_height", op.integer("pooled_height", 1)},
          {"output_width", op.integer("pooled_width", 1)},
          {"sampling_ratio", std::max<std::int64_t>(op.integer("sampling_ratio", -1), 0)},
          {"spatial_scale", op.real("spatial_scale", 1)}});
  op.program().set_lengths(op.name_of_output("Out"), at.lengths);
}

/// A convolution whose filters each take one element of a window.
inline void lower_im2sequence(onnx_operator& op) {
  if (op.has("Y")) op.fail("expected images of one size, found sizes in slot 'Y'");
  const std::vector<std::int64_t> kernel = each_side(op, "kernels", 2, 1);
  const std::vector<std::int64_t> stride = each_side(op, "strides", 2, 1);
  const std::vector<std::int64_t> pads = each_side(op, "paddings", 4, 0);
  const std::int64_t channels = op.extent("X", 1), elements = channels * kernel[0] * kernel[1];
  const auto n = static_cast<std::size_t>(elements);
  std::vector<float> one(n * n);
  for (std::size_t i = 0; i < n; ++i) one[i * n + i] = 1;
  const std::string filter = op.reshape(op.program().graph.constant(tensor({n, n}, one)),
                                        {elements, channels, kernel[0], kernel[1]});
  const std::string windows =
      op.node("Conv", {op.in("X"), filter}, {{"strides", stride}, {"pads", pads}});
  const std::vector<std::int64_t> channels_last{0, 2, 3, 1};
  const std::string rows = op.node("Transpose", {windows}, {{"perm", channels_last}});
  op.out("Out", "Reshape", {rows, op.list({-1, elements})});
  std::int64_t count = 1;
  for (int side = 0; side < 2; ++side) {
    const auto i = static_cast<std::size_t>(side);
    count *= (op.extent("X", 2 + side) + pads[i] + pads[i + 2] - kernel[i]) / stride[i] + 1;
  }
  op.program().set_lengths(
      op.name_of_output("Out"),
      filled(op, static_cast<double>(count), dtype::int64, dimension_of(op, op.in("X"), 0)));
}

inline void add_regions(onnx_operators& to) {
  to.add("roi_pool", lower_roi_pool);
  to.add("roi_align", lower_roi_align);
  to.add("im2sequence", lower_im2sequence);
}

}  // namespace onnx

}  // namespace lamina
