// SPDX-License-Identifier: Apache-2.0
// lamina/operators/reduce/onnx.hpp - operators of the family reduce, as ONNX nodes.
#pragma once

#include <lamina/core/config.hpp>

#include <algorithm>
#include <cstdint>
#include <limits>
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

/// The axes of a reduction: an attribute, later an input; without axes all of them.
inline std::vector<std::int64_t> raised_axes(onnx_import_node& n) {
  std::vector<std::int64_t> axes = n.list_or("axes", 1).value_or(std::vector<std::int64_t>());
  if (axes.empty() && !n.flag("noop_with_empty_axes"))
    for (int d = 0; d < n.in(0).rank(); ++d) axes.push_back(d);
  return axes;
}
/// A reduction of a function of X.
inline onnx_raising raise_reduction(const char* type, const char* before = nullptr,
                                    const char* after = nullptr) {
  return [type, before, after](onnx_import_node& n) {
    onnx_imported x = n.in(0);
    if (before != nullptr)
      x = std::string_view(before) == "square" && !is_floating(x.type) ? n.mul(x, x)
                                                                       : n.unary(before, x);
    onnx_imported y = n.reduce(type, x, raised_axes(n), n.flag("keepdims", true));
    if (after != nullptr) {
      const dtype real = is_floating(y.type) ? y.type : dtype::float64;
      y = n.cast(n.unary(after, n.cast(y, real)), y.type);
    }
    n.out(y);
  };
}
/// ReduceMax and ReduceMin, also of truth.
inline onnx_raising raise_extreme(const char* type) {
  return [type](onnx_import_node& n) {
    const onnx_imported& x = n.in(0);
    const bool truth = x.type == dtype::boolean;
    const double none = std::numeric_limits<double>::infinity();
    if (std::find(x.dims.begin(), x.dims.end(), 0) != x.dims.end() && is_floating(x.type)) {
      // The largest of no elements is -infinity.
      const onnx_imported sum = n.reduce("reduce_sum", x, raised_axes(n), n.flag("keepdims", true));
      return n.out(
          n.filled(std::string_view(type) == "reduce_max" ? -none : none, x.type, sum.dims));
    }
    const onnx_imported y = n.reduce(type, truth ? n.cast(x, dtype::int32) : x, raised_axes(n),
                                     n.flag("keepdims", true));
    n.out(truth ? n.cast(y, dtype::boolean) : y);
  };
}
/// log(sum(exp(x))), without overflow: the largest element m is outside of the sum.
inline void raise_log_sum_exp(onnx_import_node& n) {
  const onnx_imported& x = n.in(0);
  const std::vector<std::int64_t> axes = raised_axes(n);
  if (axes.empty() || x.rank() == 0) return n.out(x);
  const onnx_imported most = n.reduce("reduce_max", x, axes, true);
  // An infinite m is left in the sum, where its difference to itself would be NaN.
  const onnx_imported is_finite =
      n.binary("less_than", n.unary("abs", most),
               n.number(std::numeric_limits<double>::infinity(), x.type), dtype::boolean);
  const onnx_imported m = n.kept(most, is_finite);
  const onnx_imported sum = n.reduce("reduce_sum", n.unary("exp", n.sub(x, m)), axes, true);
  const onnx_imported y = n.add(n.unary("log", sum), m);
  n.out(n.flag("keepdims", true) ? y : n.squeeze(y, axes));
}

inline void add_reduce_cumsum(onnx_operators& to) {
  to.add_node("CumSum", [](onnx_import_node& n) {
    const std::vector<std::int64_t> axis = n.list(1, "an axis");
    if (axis.size() != 1) n.fail(text("expected one axis, found ").list(axis));
    n.out(n.unary("cumsum", n.in(0),
                  {{"axis", static_cast<int>(n.axis(axis[0], n.in(0).rank()))},
                   {"exclusive", n.flag("exclusive")},
                   {"reverse", n.flag("reverse")}}));
  });
  to.add("cumsum", [](onnx_operator& op) {
    op.out("Out", "CumSum", {op.in("X"), op.whole(op.integer("axis", -1))},
           {{"exclusive", op.flag("exclusive")}, {"reverse", op.flag("reverse")}});
  });
}

inline void add_reduce_dimensions(onnx_operators& to) {
  to.add_node("ReduceSum", raise_reduction("reduce_sum"));
  to.add_node("ReduceMean", raise_reduction("reduce_mean"));
  to.add_node("ReduceProd", raise_reduction("reduce_prod"));
  to.add_node("ReduceMax", raise_extreme("reduce_max"));
  to.add_node("ReduceMin", raise_extreme("reduce_min"));
  to.add_node("ReduceLogSum", raise_reduction("reduce_sum", nullptr, "log"));
  to.add_node("ReduceLogSumExp", raise_log_sum_exp);
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
  to.add_node("ReduceL1", raise_reduction("reduce_sum", "abs"));
  to.add_node("ReduceL2", raise_reduction("reduce_sum", "square", "sqrt"));
  to.add_node("ReduceSumSquare", raise_reduction("reduce_sum", "square"));
  to.add("l1_norm", whole_norm("ReduceL1"));
  to.add("squared_l2_norm", whole_norm("ReduceSumSquare"));
  to.add("squared_l2_distance", lower_squared_l2_distance);
}

}}}  // namespace lamina::onnx
