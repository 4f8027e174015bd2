// SPDX-License-Identifier: Apache-2.0
// Mini-batches without samples are skipped.

#include "train/net.hpp"

#include <lamina/train/passes/minibatch_walk.hpp>

namespace layer = lamina::layer;

namespace {

constexpr auto net = lamina::program([](lamina::block& main) {
  auto x = layer::data<"x", float, 6>(main);
  auto label = layer::data<"label", std::int64_t>(main);
  auto logits = layer::fc<3>(x, {.name = "output"});
  layer::accuracy(logits, label, {.name = "accuracy"});
  return layer::mean(layer::softmax_with_cross_entropy(logits, label));
});

}  // namespace

TEST_CASE("mini-batches without samples are skipped; a reader without any is an error") {
  lamina::model m{net};
  const auto before = test::bytes_of(m);
  using batches = std::vector<std::vector<test::sample>>;
  const auto told = Catch::Contains("lamina: train: expected at least one mini-batch in pass");
  CHECK_THROWS_WITH(lamina::train(m, batches{}, {.passes = 3}), told);
  CHECK_THROWS_WITH(lamina::train(m, batches{{}, {}}, {.passes = 3}), told);
  CHECK(test::bytes_of(m) == before);
  CHECK(lamina::train(m, batches{{}, test::samples(3), {}}).steps == 1);
}
