// SPDX-License-Identifier: Apache-2.0
// lamina/operators/reduce/onnx.hpp - operators of the family reduce, as ONNX nodes.
#pragma once

#include <lamina/core/config.hpp>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <lamina/io/onnx/onnx_functions.hpp>
#include <lamina/io/onnx/onnx_operator.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace onnx {

/// A reduction over the dimensions `dim`. In Fluid, a reduction over all dimensions has the shape
/// [1].
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

inline void add_reduce_cumsum(onnx_operators& to) {
  to.add("cumsum", [](onnx_operator& op) {
    op.out("Out", "CumSum", {op.in("X"), op.whole(op.integer("axis", -1))},
           {{"exclusive", op.flag("exclusive")}, {"reverse", op.flag("reverse")}});
  });
}

inline void add_reduce_dimensions(onnx_operators& to) {
  to.add("reduce_sum", reduction("ReduceSum"));
  to.add("reduce_mean", reduction("ReduceMean"));
  to.add("reduce_max", reduction("ReduceMax"));
  to.add("reduce_min", reduction("ReduceMin"));
  to.add("reduce_prod", reduction("ReduceProd"));
  to.add("reduce_all", reduction("ReduceMin", true));
  to.add("reduce_any", reduction("ReduceMax", true));
}

inline void add_reduce_mean(onnx_operators& to) {
  to.add("mean", [](onnx_operator& op) { reduce(op, "ReduceMean", {}, false); });
}

inline onnx_lowering whole_norm(const char* type) {
  return [type](onnx_operator& op) {
    const std::string& sum = op.node(type, {op.in("X")}, {{"keepdims", 0}});
    op.out("Out", "Reshape", {sum, op.list({1})});
  };
}
inline void lower_squared_l2_distance(onnx_operator& op) {
  if (op.wants("sub_result")) op.fail("expected that nothing reads its output 'sub_result'");
  const std::string& d = op.node("Sub", {op.in("X"), op.in("Y")});
  std::vector<std::int64_t> inner;
  for (int axis = 1; axis < op.rank("X"); ++axis) inner.push_back(axis);
  const std::string& sum = op.node("ReduceSumSquare", {d, op.list(inner)}, {{"keepdims", 0}});
  op.out("Out", "Reshape", {sum, op.list({-1, 1})});
}

inline void add_reduce_squared_l2(onnx_operators& to) {
  to.add("l1_norm", whole_norm("ReduceL1"));
  to.add("squared_l2_norm", whole_norm("ReduceSumSquare"));
  to.add("squared_l2_distance", lower_squared_l2_distance);
}

}}}  // namespace lamina::onnx
