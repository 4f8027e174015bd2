// SPDX-License-Identifier: Apache-2.0
// lamina/operators/matrix/onnx.hpp - products, look-ups, reductions and norms of rows, as ONNX
// nodes.
#pragma once

#include <lamina/core/config.hpp>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <lamina/io/onnx/onnx_operator.hpp>
#include <lamina/operators/elementwise/onnx.hpp>

namespace lamina::inline LAMINA_ABI {

namespace onnx {

/// The product of dimensions [first, end), which have to be known.
inline std::int64_t extents(const onnx_operator& op, const char* slot, int first, int end) {
  std::int64_t n = 1;
  for (int d = first; d < end; ++d) n *= op.extent(slot, d);
  return n;
}

/// X * Y with both as matrices; the result has the leading dimensions of X.
inline void lower_mul(onnx_operator& op) {
  const int x_rows = static_cast<int>(op.integer("x_num_col_dims", 1));
  const int y_rows = static_cast<int>(op.integer("y_num_col_dims", 1));
  std::string x = op.in("X"), y = op.in("Y");
  std::vector<std::int64_t> rows(static_cast<std::size_t>(x_rows), 0);  // 0 copies a dimension
  if (op.rank("X") != x_rows + 1) {
    std::vector<std::int64_t> shape = rows;
    shape.push_back(extents(op, "X", x_rows, op.rank("X")));
    x = op.reshape(x, shape);
  }
  if (y_rows == 1 && op.rank("Y") == 2) return op.out("Out", "MatMul", {x, y});
  const std::int64_t depth = extents(op, "Y", 0, y_rows);
  y = op.reshape(y, {depth, extents(op, "Y", y_rows, op.rank("Y"))});
  for (int d = y_rows; d < op.rank("Y"); ++d) rows.push_back(op.extent("Y", d));
  op.out("Out", "Reshape", {op.node("MatMul", {x, y}), op.list(rows)});
}

inline std::string transposed(onnx_operator& op, const char* slot, bool wanted) {
  const int rank = op.rank(slot);
  if (!wanted || rank < 2) return op.in(slot);
  std::vector<std::int64_t> order;
  for (int d = 0; d < rank; ++d) order.push_back(d);
  std::swap(order[static_cast<std::size_t>(rank - 2)], order[static_cast<std::size_t>(rank - 1)]);
  return op.node("Transpose", {op.in(slot)}, {{"perm", order}});
}
inline void lower_matmul(onnx_operator& op) {
  const std::string x = transposed(op, "X", op.flag("transpose_X") || op.flag("trans_x"));
  const std::string y = transposed(op, "Y", op.flag("transpose_Y") || op.flag("trans_y"));
  op.out("Out", affine(op, op.node("MatMul", {x, y}), op.real("alpha", 1), 0));
}

/// Whole numbers [..., 1] without the last dimension.
inline std::string without_last(onnx_operator& op, const char* slot) {
  return op.node("Squeeze", {op.in(slot), op.list({op.rank(slot) - 1})});
}

inline void lower_lookup_table(onnx_operator& op) {
  const bool has_column = op.type() == "lookup_table";  // lookup_table_v2 has none
  const std::string ids = has_column ? without_last(op, "Ids") : op.in("Ids");
  const std::int64_t padding = op.integer("padding_idx", -1);
  if (padding < 0) return op.out("Out", "Gather", {op.in("W"), ids}, {{"axis", 0}});
  const std::string rows = op.node("Gather", {op.in("W"), ids}, {{"axis", 0}});
  const std::string id =
      has_column ? op.in("Ids") : op.node("Unsqueeze", {op.in("Ids"), op.list({-1})});
  const std::string is_padding =
      op.node("Equal", {id, op.number(double(padding), op.type_of("Ids"))});
  op.out("Out", "Where", {is_padding, op.number(0, op.type_of("Out")), rows});
}

/// A reduction over the dimensions `dim`. Over all of them the result has one dimension in Fluid.
inline void reduce(onnx_operator& op, const char* type, std::vector<std::int64_t> axes, bool keep,
                   bool is_truth = false) {
  for (std::int64_t& a : axes) a = a < 0 ? a + op.rank("X") : a;
  const bool all = axes.empty() || static_cast<int>(axes.size()) == op.rank("X");
  std::vector<std::string> inputs{is_truth ? op.cast(op.in("X"), dtype::int32) : op.in("X")};
  if (!all) inputs.push_back(op.list(axes));
  const std::string_view kind = type;
  const bool chooses = !is_truth && (kind == "ReduceMax" || kind == "ReduceMin");
  std::string y = chooses ? extreme(op, type, inputs, keep, op.type_of("X"))
                          : op.node(type, inputs, {{"keepdims", keep}});
  if (all && op.rank("Out") == 1 && !(keep && op.rank("X") == 1)) y = op.reshape(y, {1});
  op.out("Out", is_truth ? op.cast(y, dtype::boolean) : y);
}
inline onnx_lowering reduction(const char* type, bool is_truth = false) {
  return [type, is_truth](onnx_operator& op) {
    reduce(op, type, op.flag("reduce_all") ? std::vector<std::int64_t>() : op.integers("dim"),
           op.flag("keep_dim"), is_truth);
  };
}

inline void lower_top_k(onnx_operator& op) {
  const std::vector<std::string> found =
      op.nodes("TopK", {op.in("X"), op.list({op.integer("k", 1)})}, 2);
  op.out("Out", found[0]);
  op.out("Indices", found[1]);
}

/// TopK of all elements of a dimension sorts it.
inline void lower_argsort(onnx_operator& op) {
  const std::int64_t axis = op.integer("axis", -1);
  const std::vector<std::string> found =
      op.nodes("TopK", {op.in("X"), op.list({op.extent("X", static_cast<int>(axis))})}, 2,
               {{"axis", axis}, {"largest", op.flag("descending") ? 1 : 0}});
  op.out("Out", found[0]);
  op.out("Indices", found[1]);
}

inline onnx_lowering arg_extreme(const char* type) {
  return [type](onnx_operator& op) {
    const bool keeps = op.flag("keepdims") || op.rank("X") == 1;
    op.out("Out", type, {op.in("X")}, {{"axis", op.integer("axis")}, {"keepdims", keeps ? 1 : 0}});
  };
}

inline onnx_lowering whole_norm(const char* type) {
  return [type](onnx_operator& op) {
    const std::string sum = op.node(type, {op.in("X")}, {{"keepdims", 0}});
    op.out("Out", "Reshape", {sum, op.list({1})});
  };
}
inline void lower_squared_l2_distance(onnx_operator& op) {
  if (op.wants("sub_result")) op.fail("expected that nothing reads its output 'sub_result'");
  const std::string d = op.node("Sub", {op.in("X"), op.in("Y")});
  std::vector<std::int64_t> inner;
  for (int axis = 1; axis < op.rank("X"); ++axis) inner.push_back(axis);
  const std::string sum = op.node("ReduceSumSquare", {d, op.list(inner)}, {{"keepdims", 0}});
  op.out("Out", "Reshape", {sum, op.list({-1, 1})});
}

inline void lower_accuracy(onnx_operator& op) {
  // A score of NaN, which is not equal to itself, does not count as a hit.
  const std::string is_number = op.node("Equal", {op.in("Out"), op.in("Out")});
  const std::string hits =
      op.cast(op.node("And", {op.node("Equal", {op.in("Indices"), op.in("Label")}), is_number}),
              dtype::int32);
  const std::string hit = op.node("ReduceMax", {hits, op.list({1})}, {{"keepdims", 0}});
  const std::string correct = op.reshape(op.node("ReduceSum", {hit}, {{"keepdims", 0}}), {1});
  const std::string total = op.node("Shape", {op.in("Label")}, {{"start", 0}, {"end", 1}});
  op.out("Accuracy", "Div",
         {op.cast(correct, op.type_of("Accuracy")), op.cast(total, op.type_of("Accuracy"))});
  if (op.wants("Correct")) op.out("Correct", op.cast(correct, op.type_of("Correct")));
  if (op.wants("Total")) op.out("Total", op.cast(total, op.type_of("Total")));
}

/// Scale or Bias of a norm: a parameter in a shape, or what changes nothing.
inline std::string norm_parameter(onnx_operator& op, const char* slot, float otherwise,
                                  const std::vector<std::int64_t>& shape) {
  if (op.has(slot)) return shape.size() == 1 ? op.in(slot) : op.reshape(op.in(slot), shape);
  const tensor_shape full(shape.begin(), shape.end());
  return op.program().graph.constant(tensor::filled<float>(full, otherwise).cast(op.type_of("X")));
}
/// An inference program does not compute the values that a norm keeps for its gradient.
inline void refuse_outputs(onnx_operator& op, std::initializer_list<const char*> slot_list) {
  for (const char* slot : slot_list)
    if (op.wants(slot))
      op.fail("expected that nothing reads its output '" + std::string(slot) +
              "', which ONNX does not give");
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

inline void lower_norm(onnx_operator& op) {
  const auto [length, direction] =
      direction_of(op, op.in("X"), {op.integer("axis", -1)}, op.real("epsilon", 1e-10F));
  if (op.wants("Norm")) op.out("Norm", length);
  op.out("Out", direction);
}

/// A row is all but the first dimension.
inline std::string flat_rows(onnx_operator& op, const char* slot) {
  return op.rank(slot) == 2 ? op.in(slot)
                            : op.reshape(op.in(slot), {0, extents(op, slot, 1, op.rank(slot))});
}
inline void lower_cos_sim(onnx_operator& op) {
  const std::string x = flat_rows(op, "X"), y = flat_rows(op, "Y");
  const auto of_x = direction_of(op, x, {1}, 0), of_y = direction_of(op, y, {1}, 0);
  if (op.wants("XNorm")) op.out("XNorm", of_x.length);
  if (op.wants("YNorm")) op.out("YNorm", of_y.length);
  op.out("Out", "ReduceSum", {op.node("Mul", {of_x.direction, of_y.direction}), op.list({1})},
         {{"keepdims", 1}});
}

inline void add_matrix(onnx_operators& to) {
  to.add("mul", lower_mul);
  to.add("matmul", lower_matmul);
  to.add("matmul_v2", lower_matmul);
  to.add("lookup_table", lower_lookup_table);
  to.add("lookup_table_v2", lower_lookup_table);
  to.add("mean", [](onnx_operator& op) { reduce(op, "ReduceMean", {}, false); });
  to.add("reduce_sum", reduction("ReduceSum"));
  to.add("reduce_mean", reduction("ReduceMean"));
  to.add("reduce_max", reduction("ReduceMax"));
  to.add("reduce_min", reduction("ReduceMin"));
  to.add("reduce_prod", reduction("ReduceProd"));
  to.add("reduce_all", reduction("ReduceMin", true));
  to.add("reduce_any", reduction("ReduceMax", true));
  to.add("cumsum", [](onnx_operator& op) {
    op.out("Out", "CumSum", {op.in("X"), op.whole(op.integer("axis", -1))},
           {{"exclusive", op.flag("exclusive")}, {"reverse", op.flag("reverse")}});
  });
  to.add("softmax", [](onnx_operator& op) {
    op.out("Out", "Softmax", {op.in("X")}, {{"axis", op.integer("axis", -1)}});
  });
  to.add("top_k", lower_top_k);
  to.add("minus", [](onnx_operator& op) { op.out("Out", "Sub", {op.in("X"), op.in("Y")}); });
  to.add("l1_norm", whole_norm("ReduceL1"));
  to.add("squared_l2_norm", whole_norm("ReduceSumSquare"));
  to.add("squared_l2_distance", lower_squared_l2_distance);
  to.add("argsort", lower_argsort);
  to.add("arg_max", arg_extreme("ArgMax"));
  to.add("arg_min", arg_extreme("ArgMin"));
  to.add("accuracy", lower_accuracy);
  to.add("one_hot", [](onnx_operator& op) {
    const dtype type = op.type_of("Out");
    const std::string values =
        op.program().graph.constant(tensor({2}, std::vector<float>{0, 1}).cast(type));
    op.out("Out", "OneHot", {without_last(op, "X"), op.whole(op.integer("depth", 1)), values});
  });
  to.add("layer_norm", lower_layer_norm);
  to.add("norm", lower_norm);
  to.add("cos_sim", lower_cos_sim);
}

}  // namespace onnx

}  // namespace lamina::inline LAMINA_ABI
