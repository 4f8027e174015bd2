// SPDX-License-Identifier: Apache-2.0
// lamina/operators/region/onnx.hpp - operators of the family region, as ONNX nodes.
#pragma once

#include <lamina/core/config.hpp>

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <lamina/io/onnx/onnx_operator.hpp>
#include <lamina/io/onnx/onnx_windows.hpp>
#include <lamina/operators/pool/onnx.hpp>
#include <lamina/operators/region/definition.hpp>
#include <lamina/operators/region/patch/definition.hpp>
#include <lamina/operators/sequence/onnx.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace onnx {

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

/// Concatenates windows of the padded image.
inline void lower_im2sequence(onnx_operator& op) {
  if (op.has("Y")) op.fail("expected images of one size, found sizes in slot 'Y'");
  const std::vector<std::int64_t> kernel = each_side(op, "kernels", 2, 1);
  const std::vector<std::int64_t> stride = each_side(op, "strides", 2, 1);
  const std::vector<std::int64_t> pads = each_side(op, "paddings", 4, 0);
  const std::int64_t channels = op.extent("X", 1), elements = channels * kernel[0] * kernel[1];
  std::int64_t extent[2], windows[2];  // its sizes with padding; numbers of windows
  for (int side = 0; side < 2; ++side) {
    const auto i = static_cast<std::size_t>(side);
    extent[side] = op.extent("X", 2 + side) + pads[i] + pads[i + 2];
    windows[side] = (extent[side] - kernel[i]) / stride[i] + 1;
  }
  // Copies elements; a convolution with ones and zeros would spread NaN.
  std::vector<std::int64_t> positions;
  for (std::int64_t i = 0; i < windows[0]; ++i)
    for (std::int64_t j = 0; j < windows[1]; ++j)
      for (std::int64_t k = 0; k < kernel[0]; ++k)
        for (std::int64_t l = 0; l < kernel[1]; ++l)
          positions.push_back((i * stride[0] + k) * extent[1] + j * stride[1] + l);
  const std::int64_t count = windows[0] * windows[1];
  const std::string& padded =
      op.node("Pad", {op.in("X"), op.list({0, 0, pads[0], pads[1], 0, 0, pads[2], pads[3]}),
                      op.number(0, op.type_of("X"))});
  const std::string& flat = op.reshape(padded, {0, 0, extent[0] * extent[1]});
  const std::string& copied = op.node("Gather", {flat, op.list(positions)}, {{"axis", 2}});
  const std::string& each = op.reshape(copied, {0, 0, count, kernel[0] * kernel[1]});
  const std::vector<std::int64_t> windows_first{0, 2, 1, 3};
  const std::string& rows = op.node("Transpose", {each}, {{"perm", windows_first}});
  op.out("Out", "Reshape", {rows, op.list({-1, elements})});
  op.program().set_lengths(
      op.name_of_output("Out"),
      filled(op, static_cast<double>(count), dtype::int64, dimension_of(op, op.in("X"), 0)));
}

inline void add_region_patch(onnx_operators& to) {
  to.add("spp", lower_spp);
  to.add("im2sequence", lower_im2sequence);
}

inline void lower_roi_align(onnx_operator& op) {
  const sequence_positions at = positions_in(op, "ROIs");
  op.out(
      "Out", "RoiAlign", {op.in("X"), op.in("ROIs"), op.cast(at.id, dtype::int64)},
      {{"coordinate_transformation_mode", op.flag("aligned") ? "half_pixel" : "output_half_pixel"},
       {"output_height", op.integer("pooled_height", 1)},
       {"output_width", op.integer("pooled_width", 1)},
       {"sampling_ratio", std::max<std::int64_t>(op.integer("sampling_ratio", -1), 0)},
       {"spatial_scale", op.real("spatial_scale", 1)}});
  op.program().set_lengths(op.name_of_output("Out"), at.lengths);
}

/// Adds an operator whose regions each belong to an image of their own: a copy of the image that
/// `image` numbers.
inline void raise_regions(onnx_import_node& n, const char* type, const onnx_imported& regions,
                          const onnx_imported& image, std::int64_t height, std::int64_t width,
                          std::vector<onnx_set> attributes) {
  const onnx_imported& x = n.in(0);
  n.require_rank(x, 4, 4);
  n.require_rank(regions, 2, 2);
  if (height < 1 || width < 1 || height > 0x7fff || width > 0x7fff)
    n.fail(text("expected a size from 1 to 32767, found ") << height << " and " << width);
  const std::int64_t count = regions.dims[0];
  const dtype whole = dtype::int64;
  const onnx_imported ends =
      n.concat({n.constant_list({0}), n.add(n.positions(count, 1, 0), n.number(1, whole))}, 0);
  const onnx_imported each =
      n.make("lod_reset", {{"X", regions}, {"Y", ends}}, {}, regions.type, regions.dims);
  attributes.emplace_back("pooled_height", static_cast<int>(height));
  attributes.emplace_back("pooled_width", static_cast<int>(width));
  n.out(n.make(type, {{"X", n.gather(x, n.cast(image, whole), 0)}, {"ROIs", each}}, attributes,
               x.type, {count, x.dims[1], height, width}));
}
inline void raise_roi_align(onnx_import_node& n) {
  if (n.string("mode", "avg") != "avg") n.fail("expected mode avg, found " + n.string("mode"));
  const std::string place = n.string("coordinate_transformation_mode",
                                     n.version() < 16 ? "output_half_pixel" : "half_pixel");
  if (place != "output_half_pixel" && place != "half_pixel")
    n.fail("expected coordinate_transformation_mode half_pixel or output_half_pixel, found " +
           place);
  raise_regions(n, "roi_align", n.in(1), n.in(2), n.integer("output_height", 1),
                n.integer("output_width", 1),
                {{"spatial_scale", n.real("spatial_scale", 1)},
                 {"sampling_ratio", static_cast<int>(n.integer("sampling_ratio"))},
                 {"aligned", place == "half_pixel"}});
}
inline void raise_roi_pool(onnx_import_node& n) {
  const onnx_imported& all = n.in(1);
  n.require_rank(all, 2, 2);
  const std::vector<std::int64_t> size = n.integers("pooled_shape");
  if (size.size() != 2 || n.extent(all, 1) != 5)
    n.fail("expected a pooled_shape of two sides, and an image and four corners for each region");
  raise_regions(n, "roi_pool", n.slice(all, 1, 1, 5), n.squeeze(n.slice(all, 1, 0, 1), {1}),
                size[0], size[1], {{"spatial_scale", n.real("spatial_scale", 1)}});
}

/// NonMaxSuppression: the limits are inputs, which may be known only at run time.
inline void raise_non_max_suppression(onnx_import_node& n) {
  n.require_rank(n.in(0), 3, 3);
  n.require_rank(n.in(1), 3, 3);
  n.out(n.make("non_max_suppression",
               {{"Boxes", n.in(0)},
                {"Scores", n.in(1)},
                {"MaxOutput", n.optional(2)},
                {"IouThreshold", n.optional(3)},
                {"ScoreThreshold", n.optional(4)}},
               {{"center_point_box", n.flag("center_point_box")}}, dtype::int64,
               {unknown_extent, 3}));
}

inline void add_region_roi_align(onnx_operators& to) {
  to.add("roi_align", lower_roi_align);
  to.add_node("RoiAlign", raise_roi_align);
  to.add_node("NonMaxSuppression", raise_non_max_suppression);
}

/// In ONNX, each region has the index of its image before its corners.
inline void lower_roi_pool(onnx_operator& op) {
  if (op.wants("Argmax")) op.fail("expected that nothing reads Argmax, which ONNX does not have");
  const sequence_positions at = positions_in(op, "ROIs");
  const std::string& image = column(op, op.cast(at.id, op.type_of("ROIs")));
  const std::string& regions = op.node("Concat", {image, op.in("ROIs")}, {{"axis", 1}});
  const std::vector<std::int64_t> size{op.integer("pooled_height", 1),
                                       op.integer("pooled_width", 1)};
  op.out("Out", "MaxRoiPool", {op.in("X"), regions},
         {{"pooled_shape", size}, {"spatial_scale", op.real("spatial_scale", 1)}});
  op.program().set_lengths(op.name_of_output("Out"), at.lengths);
}

inline void add_region_roi_pool(onnx_operators& to) {
  to.add("roi_pool", lower_roi_pool);
  to.add_node("MaxRoiPool", raise_roi_pool);
}

}}}  // namespace lamina::onnx
