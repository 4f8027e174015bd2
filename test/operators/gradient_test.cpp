// SPDX-License-Identifier: Apache-2.0
// Gradient operators have the names and slots of Fluid.
#include <string>

#include <catch2/catch.hpp>

#include <lamina/operators/gradient.hpp>
#include <lamina/operators/operators.hpp>
#include <lamina/operators/pointwise_evaluation.hpp>

TEST_CASE("gradient operators have Fluid's names and slots") {
  using std::string;
  const auto slots = [](const lamina::slot_desc* s, int n) {
    string all;
    for (int i = 0; i < n; ++i) all += string(s[i].name) + " ";
    return all;
  };
  const auto spell = [&](const lamina::operator_schema& s) {
    return string(s.type) + ": " + slots(s.inputs, s.input_count) + "-> " +
           slots(s.outputs, s.output_count);
  };
  using lamina::gradient_of;
  using lamina::schema_of;
  CHECK(spell(schema_of<gradient_of<lamina::operators::matmul>>()) ==
        "matmul_grad: X Y Out@GRAD -> X@GRAD Y@GRAD ");
  CHECK(spell(schema_of<gradient_of<lamina::operators::layer_norm>>()) ==
        "layer_norm_grad: X Scale Mean Variance Y@GRAD -> X@GRAD Scale@GRAD Bias@GRAD ");
  CHECK(spell(schema_of<gradient_of<lamina::operators::reshape2>>()) ==
        "reshape2_grad: XShape Out@GRAD -> X@GRAD ");
  CHECK(spell(schema_of<gradient_of<lamina::operators::lookup_table>>()) ==
        "lookup_table_grad: W Ids Out@GRAD -> W@GRAD ");
  CHECK(spell(schema_of<gradient_of<lamina::operators::dropout>>()) ==
        "dropout_grad: Mask Out@GRAD -> X@GRAD ");
  CHECK(spell(schema_of<gradient_of<lamina::operators::cos_sim>>()) ==
        "cos_sim_grad: X Y Out XNorm YNorm Out@GRAD -> X@GRAD Y@GRAD ");
  CHECK(spell(schema_of<gradient_of<lamina::operators::norm>>()) ==
        "norm_grad: X Norm Out@GRAD -> X@GRAD ");
  CHECK(spell(schema_of<gradient_of<lamina::operators::huber_loss>>()) ==
        "huber_loss_grad: Residual Out@GRAD -> X@GRAD Y@GRAD ");
  CHECK(spell(schema_of<gradient_of<lamina::operators::smooth_l1_loss>>()) ==
        "smooth_l1_loss_grad: InsideWeight OutsideWeight Diff Out@GRAD -> X@GRAD Y@GRAD ");
  CHECK(spell(schema_of<gradient_of<lamina::operators::top_k>>()) ==
        "top_k_grad: X Indices Out@GRAD -> X@GRAD ");
  CHECK(spell(schema_of<lamina::operators::clip_to_norm>()) == "clip_by_norm: X -> Out ");
  CHECK(schema_of<lamina::operators::accuracy>().gradient == nullptr);
  CHECK(schema_of<lamina::operators::auc>().gradient == nullptr);
  CHECK(schema_of<lamina::operators::print>().has_side_effect);
}
