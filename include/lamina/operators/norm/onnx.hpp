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

/// The dimensions of one number per channel, which is dimension 1 of X.
inline std::vector<std::int64_t> channel_dims(const onnx_imported& x, std::int64_t channels) {
  std::vector<std::int64_t> dims{channels};
  for (int d = 2; d < x.rank(); ++d) dims.push_back(1);
  return dims;
}
/// BatchNormalization with the moving mean and variance, or with those of the batch (training).
inline void raise_batch_norm(onnx_import_node& n) {
  const onnx_imported& x = n.in(0);
  n.require_rank(x, 2, 16);
  const float epsilon = n.real("epsilon", 1e-5F);
  if (n.version() >= 14 && n.flag("training_mode")) {
    std::vector<std::int64_t> axes{0};
    for (int d = 2; d < x.rank(); ++d) axes.push_back(d);
    const onnx_imported mean = n.reduce("reduce_mean", x, axes, true), off = n.sub(x, mean);
    const onnx_imported variance = n.reduce("reduce_mean", n.unary("square", off), axes, true);
    const std::int64_t channels = n.extent(x, 1);
    const std::vector<std::int64_t> dims = channel_dims(x, channels);
    const onnx_imported scaled =
        n.mul(n.mul(off, n.unary("rsqrt", n.affine(variance, 1, static_cast<double>(epsilon)))),
              n.reshape(n.in(1), dims));
    n.out(n.add(scaled, n.reshape(n.in(2), dims)));
    const double keep = static_cast<double>(n.real("momentum", 0.9F));
    const auto moved = [&](std::size_t i, const onnx_imported& found) {
      return n.add(n.affine(n.in(i), keep, 0), n.affine(n.reshape(found, {channels}), 1 - keep, 0));
    };
    if (n.wants(1)) n.out(1, moved(3, mean));
    if (n.wants(2)) n.out(2, moved(4, variance));
    return;
  }
  n.out(n.make(
      "batch_norm",
      {{"X", x}, {"Scale", n.in(1)}, {"Bias", n.in(2)}, {"Mean", n.in(3)}, {"Variance", n.in(4)}},
      {{"epsilon", epsilon}, {"is_test", true}, {"use_global_stats", true}}, x.type, x.dims, "Y"));
}

inline void add_norm_batch_norm(onnx_operators& to) {
  to.add("batch_norm", lower_batch_norm);
  to.add_node("BatchNormalization", raise_batch_norm);
}

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

/// Returns x [N, C, sides...] as images [N, C, 1, size].
inline onnx_imported as_flat_image(onnx_import_node& n, const onnx_imported& x) {
  if (x.rank() == 4) return x;
  std::int64_t size = 1;
  for (int d = 2; d < x.rank(); ++d) {
    const std::int64_t extent = x.dims[static_cast<std::size_t>(d)];
    size = size < 0 || extent < 0 ? unknown_extent : size * extent;
  }
  return n.reshape(x, {x.dims[0], n.extent(x, 1), 1, size});
}
/// GroupNormalization; until version 21 with one scale and bias per group, then per channel.
inline void raise_group_norm(onnx_import_node& n) {
  const onnx_imported& x = n.in(0);
  n.require_rank(x, 3, 16);
  const std::int64_t groups = n.integer("num_groups", 1), channels = n.extent(x, 1);
  if (groups < 1 || channels % groups != 0)
    n.fail(text("expected groups of whole channels, found ")
           << groups << " groups of " << channels << " channels");
  const auto per_channel = [&](std::size_t i) {
    const onnx_imported& v = n.in(i);
    if (v.dims == std::vector<std::int64_t>{channels}) return v;
    return n.reshape(n.broadcast_to(n.reshape(v, {groups, 1}), {groups, channels / groups}),
                     {channels});
  };
  const onnx_imported image = as_flat_image(n, x);
  const onnx_imported y =
      n.make("group_norm", {{"X", image}, {"Scale", per_channel(1)}, {"Bias", per_channel(2)}},
             {{"groups", static_cast<int>(groups)}, {"epsilon", n.real("epsilon", 1e-5F)}}, x.type,
             image.dims, "Y");
  n.out(n.reshape(y, x.dims));
}
inline void raise_instance_norm(onnx_import_node& n) {
  const onnx_imported& x = n.in(0);
  n.require_rank(x, 3, 16);
  const onnx_imported image = as_flat_image(n, x);
  const onnx_imported y =
      n.make("instance_norm", {{"X", image}, {"Scale", n.in(1)}, {"Bias", n.in(2)}},
             {{"epsilon", n.real("epsilon", 1e-5F)}}, x.type, image.dims, "Y");
  n.out(n.reshape(y, x.dims));
}

inline void add_norm_group_norm(onnx_operators& to) {
  to.add_node("GroupNormalization", raise_group_norm);
  to.add_node("InstanceNormalization", raise_instance_norm);
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

/// LayerNormalization over the dimensions from `axis` on; also gives the mean and 1 / sqrt(variance
/// + epsilon) of each row.
inline void raise_layer_norm(onnx_import_node& n) {
  const onnx_imported& x = n.in(0);
  n.require_rank(x, 1, 16);
  const std::int64_t axis = n.axis(n.integer("axis", -1), x.rank());
  std::vector<std::int64_t> inner(x.dims.begin() + axis, x.dims.end()),
      outer(x.dims.begin(), x.dims.begin() + axis);
  std::int64_t columns = 1, rows = 1;
  for (const std::int64_t d : inner) columns = d < 0 ? -1 : columns * d;
  for (const std::int64_t d : outer) rows = d < 0 || rows < 0 ? -1 : rows * d;
  if (columns < 0) n.fail("expected dimensions of a row that are known before a run");
  onnx_imported flat = x;
  if (axis == 0) flat = n.reshape(x, {1, columns});
  const auto parameter = [&](std::size_t i) {
    return n.has(i) ? n.reshape(n.broadcast_to(n.in(i), inner), {columns}) : onnx_imported();
  };
  const float epsilon = n.real("epsilon", 1e-5F);
  const std::vector<onnx_imported> made = n.make_all(
      "layer_norm", {{"X", flat}, {"Scale", parameter(1)}, {"Bias", parameter(2)}},
      {{"begin_norm_axis", static_cast<int>(axis == 0 ? 1 : axis)}, {"epsilon", epsilon}},
      {{"Y", x.type, flat.dims}, {"Mean", x.type, {rows}}, {"Variance", x.type, {rows}}});
  n.out(n.reshape(made[0], x.dims));
  std::vector<std::int64_t> dims = outer;
  dims.resize(x.dims.size(), 1);
  if (n.wants(1)) n.out(1, n.reshape(made[1], dims));
  if (n.wants(2))
    n.out(2, n.reshape(n.unary("rsqrt", n.affine(made[2], 1, static_cast<double>(epsilon))), dims));
}
/// RMSNormalization: X / sqrt(mean of squares + epsilon) * scale over the dimensions from `axis`
/// on.
inline void raise_rms_norm(onnx_import_node& n) {
  const onnx_imported& x = n.in(0);
  std::vector<std::int64_t> axes;
  for (std::int64_t d = n.axis(n.integer("axis", -1), x.rank()); d < x.rank(); ++d)
    axes.push_back(d);
  const onnx_imported mean = n.reduce("reduce_mean", n.unary("square", x), axes, true);
  const double epsilon = static_cast<double>(n.real("epsilon", 1e-5F));
  n.out(n.mul(n.mul(x, n.unary("rsqrt", n.affine(mean, 1, epsilon))), n.in(1)));
}

inline void add_norm_layer_norm(onnx_operators& to) {
  to.add("layer_norm", lower_layer_norm);
  to.add_node("LayerNormalization", raise_layer_norm);
  to.add_node("RMSNormalization", raise_rms_norm);
}

inline void lower_lrn(onnx_operator& op) {
  refuse_outputs(op, {"MidOut"});
  const std::int64_t n = op.integer("n", 5);  // ONNX divides alpha by n
  op.out("Out", "LRN", {op.in("X")},
         {{"size", n},
          {"alpha", op.real("alpha", 1e-4F) * static_cast<float>(n)},
          {"beta", op.real("beta", 0.75F)},
          {"bias", op.real("k", 2)}});
}

inline void raise_lrn(onnx_import_node& n) {
  const onnx_imported& x = n.in(0);
  const std::int64_t size = n.integer("size");
  if (size < 1 || size > 0xffff) n.fail(text("expected a size from 1 to 65535, found ") << size);
  n.out(n.unary("lrn", x,
                {{"n", static_cast<int>(size)},
                 {"k", n.real("bias", 1)},
                 {"alpha", n.real("alpha", 1e-4F) / static_cast<float>(size)},
                 {"beta", n.real("beta", 0.75F)}}));
}

inline void add_norm_lrn(onnx_operators& to) {
  to.add("lrn", lower_lrn);
  to.add_node("LRN", raise_lrn);
}

inline void lower_norm(onnx_operator& op) {
  const auto [length, direction] =
      direction_of(op, op.in("X"), {op.integer("axis", -1)}, op.real("epsilon", 1e-10F));
  if (op.wants("Norm")) op.out("Norm", length);
  op.out("Out", direction);
}

/// LpNormalization: X / its norm along an axis, 0 where the norm is 0.
inline void raise_lp_norm(onnx_import_node& n) {
  const onnx_imported& x = n.in(0);
  const std::int64_t axis = n.axis(n.integer("axis", -1), x.rank()), p = n.integer("p", 2);
  if (p != 1 && p != 2) n.fail(text("expected p 1 or 2, found ") << p);
  onnx_imported norm = n.reduce("reduce_sum", n.unary(p == 1 ? "abs" : "square", x), {axis}, true);
  if (p == 2) norm = n.unary("sqrt", norm);
  const onnx_imported is_none = n.binary("equal", norm, n.number(0, x.type), dtype::boolean);
  n.out(n.div(x, n.where(is_none, n.number(1, x.type), norm)));
}
/// MeanVarianceNormalization: (X - mean) / (the standard deviation + 1e-9).
inline void raise_mean_variance_norm(onnx_import_node& n) {
  const onnx_imported& x = n.in(0);
  const std::vector<std::int64_t> axes =
      n.has_attribute("axes") ? n.integers("axes") : std::vector<std::int64_t>{0, 2, 3};
  const onnx_imported off = n.sub(x, n.reduce("reduce_mean", x, axes, true));
  const onnx_imported variance = n.reduce("reduce_mean", n.unary("square", off), axes, true);
  n.out(n.div(off, n.affine(n.unary("sqrt", variance), 1, 1e-9)));
}

inline void add_norm_norm(onnx_operators& to) {
  to.add("norm", lower_norm);
  to.add_node("LpNormalization", raise_lp_norm);
  to.add_node("MeanVarianceNormalization", raise_mean_variance_norm);
}

}}}  // namespace lamina::onnx
