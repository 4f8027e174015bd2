// SPDX-License-Identifier: Apache-2.0
// lamina/operators/region/roi_pool/onnx.hpp - maxima over the parts of regions, as ONNX nodes.
#pragma once

#include <lamina/core/config.hpp>

#include <cstdint>
#include <string>
#include <vector>

#include <lamina/io/onnx/onnx_operator.hpp>
#include <lamina/operators/sequence/onnx.hpp>

namespace lamina::inline LAMINA_ABI {

namespace onnx {

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

inline void add_region_roi_pool(onnx_operators& to) { to.add("roi_pool", lower_roi_pool); }

}  // namespace onnx

}  // namespace lamina::inline LAMINA_ABI
