// SPDX-License-Identifier: Apache-2.0
// lamina/operators/region/roi_align/onnx.hpp - interpolated samples of regions, as ONNX nodes.
#pragma once

#include <lamina/core/config.hpp>

#include <algorithm>
#include <cstdint>

#include <lamina/io/onnx/onnx_operator.hpp>
#include <lamina/operators/sequence/onnx.hpp>

namespace lamina::inline LAMINA_ABI {

namespace onnx {

inline void lower_roi_align(onnx_operator& op) {
  const sequence_positions at = positions_in(op, "ROIs");
  op.out("Out", "RoiAlign", {op.in("X"), op.in("ROIs"), op.cast(at.id, dtype::int64)},
         {{"coordinate_transformation_mode", "output_half_pixel"},
          {"output_height", op.integer("pooled_height", 1)},
          {"output_width", op.integer("pooled_width", 1)},
          {"sampling_ratio", std::max<std::int64_t>(op.integer("sampling_ratio", -1), 0)},
          {"spatial_scale", op.real("spatial_scale", 1)}});
  op.program().set_lengths(op.name_of_output("Out"), at.lengths);
}

inline void add_region_roi_align(onnx_operators& to) { to.add("roi_align", lower_roi_align); }

}  // namespace onnx

}  // namespace lamina::inline LAMINA_ABI
