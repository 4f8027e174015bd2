// SPDX-License-Identifier: Apache-2.0
// lamina/operators/metric/onnx.hpp - operators of the family metric, as ONNX nodes.
#pragma once

#include <lamina/core/config.hpp>

#include <string>
#include <vector>

#include <lamina/io/onnx/onnx_functions.hpp>
#include <lamina/io/onnx/onnx_operator.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace onnx {

inline void lower_top_k(onnx_operator& op) {
  const std::vector<std::string> found =
      op.nodes("TopK", {op.in("X"), op.list({op.integer("k", 1)})}, 2);
  op.out("Out", found[0]);
  op.out("Indices", found[1]);
}

inline void lower_accuracy(onnx_operator& op) {
  // A NaN score, which is not equal to itself, does not count as a hit.
  const std::string& is_number = op.node("Equal", {op.in("Out"), op.in("Out")});
  const std::string& hits =
      op.cast(op.node("And", {op.node("Equal", {op.in("Indices"), op.in("Label")}), is_number}),
              dtype::int32);
  const std::string& hit = op.node("ReduceMax", {hits, op.list({1})}, {{"keepdims", 0}});
  const std::string& correct = op.reshape(op.node("ReduceSum", {hit}, {{"keepdims", 0}}), {1});
  const std::string& total = op.node("Shape", {op.in("Label")}, {{"start", 0}, {"end", 1}});
  op.out("Accuracy", "Div",
         {op.cast(correct, op.type_of("Accuracy")), op.cast(total, op.type_of("Accuracy"))});
  if (op.wants("Correct")) op.out("Correct", op.cast(correct, op.type_of("Correct")));
  if (op.wants("Total")) op.out("Total", op.cast(total, op.type_of("Total")));
}

inline void add_metric_classification(onnx_operators& to) {
  to.add("top_k", lower_top_k);
  to.add("accuracy", lower_accuracy);
  to.add("one_hot", [](onnx_operator& op) {
    const dtype type = op.type_of("Out");
    const std::string& values =
        op.program().graph.constant(tensor({2}, std::vector<float>{0, 1}).cast(type));
    op.out("Out", "OneHot", {without_last(op, "X"), op.whole(op.integer("depth", 1)), values});
  });
}

}}}  // namespace lamina::onnx
