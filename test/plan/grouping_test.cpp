// SPDX-License-Identifier: Apache-2.0
// Updates run in the loops of the products that compute their gradients.

#include <catch2/catch.hpp>

#include <lamina/inspect/plan_text.hpp>
#include <lamina/layers/layers.hpp>
#include <lamina/optimizer/adam.hpp>
#include <lamina/optimizer/sgd.hpp>
#include <lamina/optimizer/training_program.hpp>
#include <lamina/plan/grouping.hpp>
#include <lamina/transform/clone_for_test.hpp>

namespace layer = lamina::layer;
using lamina::activation;

namespace {

constexpr auto perceptron = lamina::program([](lamina::block& main) {
  auto x = layer::data<"image", float, 784>(main);
  auto y = layer::data<"label", std::int64_t>(main);
  auto h = layer::fc<64>(layer::fc<128>(x, {.act = activation::relu}), {.act = activation::relu});
  auto logits = layer::fc<10>(h, {.name = "logits"});
  layer::accuracy(logits, y, {.name = "accuracy"});
  return layer::mean(layer::softmax_with_cross_entropy(logits, y));
});

constexpr lamina::optimizer::adam adam{};

}  // namespace

TEST_CASE("updates are fused into the products that compute their gradients") {
  using plan = lamina::plan<decltype(lamina::transform::minimize(perceptron, adam))>;
  int fused = 0;
  for (int g = 0; g < plan::groups; ++g) {
    const auto& d = plan::grouped.groups[g];
    for (int e = d.first; e < d.first + d.count; ++e)
      if (plan::lowered.instructions[plan::grouped.order[e]].schema->kind ==
          lamina::operator_kind::update)
        fused += d.head == lamina::fusion_anchor::gemm_dw ||
                 d.head == lamina::fusion_anchor::reduce_rows;
  }
  REQUIRE(fused == 6);
}
