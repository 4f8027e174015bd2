// SPDX-License-Identifier: Apache-2.0
// lamina/operators/norm/onnx.hpp - operators of the family norm, as ONNX nodes.
#pragma once

#include <lamina/core/config.hpp>

#include <cstdint>
#include <initializer_list>
#include <string>
#include <vector>

#include <lamina/core/rows.hpp>
#include <lamina/io/onnx/onnx_functions.hpp>
#include <lamina/io/onnx/onnx_operator.hpp>
#include <lamina/io/onnx/onnx_windows.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace onnx {

/// Scale or Bias of a norm: the parameter, reshaped to a given shape. If it is absent, a constant
/// without effect.
inline std::string norm_parameter(onnx_operator& op, const char* slot, float otherwise,
                                  const std::vector<std::int64_t>& shape) {
  if (op.has(slot)) return shape.size() == 1 ? op.in(slot) : op.reshape(op.in(slot), shape);
  const tensor_shape full(shape.begin(), shape.end());
  return op.program().graph.constant(tensor::filled<float>(full, otherwise).cast(op.type_of("X")));
}
/// Fails if the program reads a value that a norm stores for its gradient, because an inference
/// program does not compute it.
inline void refuse_outputs(onnx_operator& op, std::initializer_list<const char*> slot_list) {
  for (const char* slot : slot_list)
    if (op.wants(slot))
      op.fail("expected that nothing reads its output '" + std::string(slot) +
              "', which ONNX does not give");
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

inline void add_norm_batch_norm(onnx_operators& to) { to.add("batch_norm", lower_batch_norm); }

/// Flattens all dimensions after the first one, so that each entry is one row.
inline std::string flat_rows(onnx_operator& op, const char* slot) {
  return op.rank(slot) == 2 ? op.in(slot)
                            : op.reshape(op.in(slot), {0, extents(op, slot, 1, op.rank(slot))});
}
inline void lower_cos_sim(onnx_operator& op) {
  const std::string &x = flat_rows(op, "X"), &y = flat_rows(op, "Y");
  const auto of_x = direction_of(op, x, {1}, 0), of_y = direction_of(op, y, {1}, 0);
  if (op.wants("XNorm")) op.out("XNorm", of_x.length);
  if (op.wants("YNorm")) op.out("YNorm", of_y.length);
  op.out("Out", "ReduceSum", {op.node("Mul", {of_x.direction, of_y.direction}), op.list({1})},
         {{"keepdims", 1}});
}

inline void add_norm_cos_sim(onnx_operators& to) { to.add("cos_sim", lower_cos_sim); }

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

inline void lower_layer_norm(onnx_operator& op) {
  refuse_outputs(op, {"Mean", "Variance"});
  const int first = static_cast<int>(op.integer("begin_norm_axis", 1));
  std::vector<std::int64_t> shape;
  for (int d = first; d < op.rank("X"); ++d) shape.push_back(op.extent("X", d));
  op.out("Y", "LayerNormalization",
         {op.in("X"), norm_parameter(op, "Scale", 1, shape), norm_parameter(op, "Bias", 0, shape)},
         {{"axis", first}, {"epsilon", op.real("epsilon", 1e-5F)}});
}

inline void add_norm_layer_norm(onnx_operators& to) { to.add("layer_norm", lower_layer_norm); }

inline void lower_lrn(onnx_operator& op) {
  refuse_outputs(op, {"MidOut"});
  const std::int64_t n = op.integer("n", 5);  // ONNX divides alpha by n
  op.out("Out", "LRN", {op.in("X")},
         {{"size", n},
          {"alpha", op.real("alpha", 1e-4F) * static_cast<float>(n)},
          {"beta", op.real("beta", 0.75F)},
          {"bias", op.real("k", 2)}});
}

inline void add_norm_lrn(onnx_operators& to) { to.add("lrn", lower_lrn); }

inline void lower_norm(onnx_operator& op) {
  const auto [length, direction] =
      direction_of(op, op.in("X"), {op.integer("axis", -1)}, op.real("epsilon", 1e-10F));
  if (op.wants("Norm")) op.out("Norm", length);
  op.out("Out", direction);
}

inline void add_norm_norm(onnx_operators& to) { to.add("norm", lower_norm); }

}}}  // namespace lamina::onnx
