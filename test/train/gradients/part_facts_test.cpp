// SPDX-License-Identifier: Apache-2.0
// Moving statistics of threads are joined: the mean over the parts.

#include "train/net.hpp"

#include <lamina/train/gradients/part_facts.hpp>

namespace layer = lamina::layer;

namespace {

constexpr auto net = lamina::program([](lamina::block& main) {
  auto x = layer::data<"x", float, 6>(main);
  auto label = layer::data<"label", std::int64_t>(main);
  auto scaled = layer::batch_norm(x, {.momentum = 0.5f, .name = "norm"});
  auto logits = layer::fc<3>(scaled, {.name = "output"});
  return layer::mean(layer::softmax_with_cross_entropy(logits, label));
});

using model = lamina::model<std::remove_const_t<decltype(net)>>;

model trained(int threads, int samples) {
  model m{net};
  test::optimizer::sgd{.learning_rate = 0.1f}.train(
      m, test::samples(samples) | test::reader::batch(samples), {.passes = 1, .threads = threads});
  return m;
}

}  // namespace

TEST_CASE("on several threads they are the mean over the parts, the same bits each time",
          "[threads]") {
  const model one = trained(1, 9), two = trained(2, 9), again = trained(2, 9);
  CHECK(test::bytes_of(two) == test::bytes_of(again));
  const auto a = one.parameter<"norm.w_1">(), b = two.parameter<"norm.w_1">();
  for (std::size_t c = 0; c < 6; ++c) CHECK(b(c) == Approx(a(c)).margin(1e-5));
  // The variance of a part is about another mean.
  CHECK(two.parameter<"norm.w_2">()(0) > 0.5f);
  CHECK(two.parameter<"norm.w_2">()(0) < one.parameter<"norm.w_2">()(0) + 1e-6f);
}
