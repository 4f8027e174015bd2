// SPDX-License-Identifier: Apache-2.0
// Training on several threads: nearly the numbers of one, and the same bits each time.

#include "train/net.hpp"

#include <lamina/train/gradients/gradient_part.hpp>

namespace layer = lamina::layer;

namespace {

constexpr auto net = lamina::program([](lamina::block& main) {
  auto x = layer::data<"x", float, 6>(main);
  auto label = layer::data<"label", std::int64_t>(main);
  auto hidden = layer::fc<17>(x, {.act = lamina::activation::tanh});
  auto logits = layer::fc<3>(layer::dropout(hidden, 0.2f), {.name = "output"});
  layer::accuracy(logits, label, {.name = "accuracy"});
  return layer::mean(layer::softmax_with_cross_entropy(logits, label));
});

using model = lamina::model<std::remove_const_t<decltype(net)>>;

struct run {
  model m{net};
  std::vector<double> costs, accuracies;
};

// Mini-batches of 7 and one of 1: shards differ, and one thread may have none.
run train(int threads, std::uint64_t seed = 4) {
  run r;
  const auto watch = [&](const lamina::event& e) {
    if (!e.is_end_iteration()) return;
    r.costs.push_back(e.cost);
    r.accuracies.push_back(e.metric("accuracy"));
  };
  test::optimizer::adam{.learning_rate = 0.01f}.train(
      r.m, test::samples(36) | test::reader::shuffle(36) | test::reader::batch(7),
      {.passes = 5, .threads = threads, .on_event = watch, .seed = seed});
  return r;
}

}  // namespace

TEST_CASE("two and three threads train as one does, but for rounding", "[threads]") {
  const run one = train(1);
  REQUIRE(one.costs.size() == 30);
  for (const int threads : {2, 3}) {
    const run some = train(threads);
    CHECK(test::distance(one.m, some.m) < 1e-3);
    REQUIRE(some.costs.size() == one.costs.size());
    for (std::size_t i = 0; i < one.costs.size(); ++i) {
      CHECK(some.costs[i] == Approx(one.costs[i]).margin(1e-3));
      CHECK(some.accuracies[i] == Approx(one.accuracies[i]).margin(1e-6));
    }
  }
}

TEST_CASE("the same number of threads gives the same bits", "[threads]") {
  for (const int threads : {1, 2, 3}) {
    const run a = train(threads), b = train(threads);
    CHECK(test::bytes_of(a.m) == test::bytes_of(b.m));
    CHECK(a.costs == b.costs);
  }
}

TEST_CASE("an update that needs norms of a whole parameter is not cut among threads", "[threads]") {
  const auto after = [](int threads) {
    model m{net};
    test::optimizer::lars_momentum{.learning_rate = 0.1f}.train(
        m, test::samples(36) | test::reader::batch(7), {.passes = 2, .threads = threads});
    return m;
  };
  const model one = after(1), two = after(2);
  CHECK(test::distance(one, two) < 1e-3);
  CHECK(test::bytes_of(two) == test::bytes_of(after(2)));
  CHECK(test::distance(one, model{net}) > 1e-2);
}

TEST_CASE("the seed of a run decides its dropout and nothing else does") {
  const run a = train(1, 4), b = train(1, 5);
  CHECK(a.costs[0] != b.costs[0]);
  CHECK(test::bytes_of(a.m) != test::bytes_of(b.m));

  // One mask a step; serving and testing drop nothing.
  model m{net};
  lamina::gradient_machine g{m, 4};
  const auto samples = test::samples(20);
  const float first = g.backward(samples, 0);
  CHECK(g.backward(samples, 1) != first);
  CHECK(g.backward(samples, 0) == first);
  lamina::evaluator e{m, 4}, other{m, 5};
  const auto batches = samples | test::reader::batch(20);
  CHECK(e.test(batches).cost == other.test(batches).cost);
}

TEST_CASE("each seed draws masks of its own") {
  model m{net};
  const std::vector<test::sample> samples(1, {{1, 1, 1, 1, 1, 1}, 0});
  std::vector<float> costs;
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    lamina::gradient_machine g{m, seed};
    costs.push_back(g.backward(samples));
  }
  std::sort(costs.begin(), costs.end());
  CHECK(std::unique(costs.begin(), costs.end()) - costs.begin() > 10);
}
