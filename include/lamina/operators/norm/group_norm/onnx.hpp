// SPDX-License-Identifier: Apache-2.0
// lamina/operators/norm/group_norm/onnx.hpp - group_norm and instance_norm, as ONNX nodes.
#pragma once

#include <lamina/core/config.hpp>

#include <cstdint>
#include <vector>

#include <lamina/io/onnx/onnx_functions.hpp>
#include <lamina/io/onnx/onnx_operator.hpp>
#include <lamina/io/onnx/onnx_windows.hpp>
#include <lamina/operators/norm/onnx.hpp>

namespace lamina::inline LAMINA_ABI {

namespace onnx {

inline void lower_group_norm(onnx_operator& op) {
  require_channels_first(op, "data_layout");
  refuse_outputs(op, {"Mean", "Variance"});
  const std::vector<std::int64_t> channels{op.extent("X", 1)};
  std::vector<onnx_attribute> attributes{{"num_groups", op.integer("groups", 1)},
                                         {"epsilon", op.real("epsilon", 1e-5F)}};
  // ONNX computes the statistics in float unless stash_type is set.
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

inline void add_norm_group_norm(onnx_operators& to) {
  to.add("group_norm", lower_group_norm);
  to.add("instance_norm", lower_instance_norm);
}

}  // namespace onnx

}  // namespace lamina::inline LAMINA_ABI
