// SPDX-License-Identifier: Apache-2.0
// Costs of a whole row: gradients, edge values, the engine against the executor.
#include <vector>

#include "engine/edge_programs.hpp"
#include "executor/shared_executor.hpp"
#include "laws/edge_law.hpp"
#include <laws/gradient_check.hpp>

#include <lamina/layers/layers.hpp>

namespace layer = lamina::layer;
using lamina::block;
using lamina::tensor;
using lamina::law::check_finite;
using namespace test::edges;

namespace {

const lamina::feed_map three_labels{{"label", tensor({3, 1}, std::vector<std::int64_t>{2, 0, 3})}};

laws::gradient_options between_0_and_1() {
  laws::gradient_options o;
  o.low = 0.1f;
  o.high = 0.9f;
  return o;
}

}  // namespace

TEST_CASE("gradient: kldiv_loss, bpr_loss and label_smooth") {
  laws::gradient_options options = between_0_and_1();
  options.constant = {"target"};
  laws::check_gradients(lamina::program([](block& main) {
                          auto x = layer::fc<4>(layer::data<"x", float, 3>(main));
                          auto target = layer::data<"target", float, 4>(main);
                          auto label = layer::data<"label", std::int64_t>(main);
                          auto smooth = layer::label_smooth(layer::softmax(x), {.epsilon = 0.2f});
                          return layer::mean(layer::bpr_loss(x, label)) +
                                 layer::kldiv_loss(x, target) +
                                 layer::kldiv_loss<layer::reduction::batchmean>(x, target) +
                                 layer::mean(layer::square(smooth));
                        }),
                        three_labels, options);
}

TEST_CASE("bpr_loss of scores far apart") {
  check_finite(lamina::law::check_edges(ranked, {{1000, 0, -1000, -1000, 0, 1000}, {0, 0}}, 2));
}
