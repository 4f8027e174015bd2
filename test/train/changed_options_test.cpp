// SPDX-License-Identifier: Apache-2.0
// Options that an event handler changes while training counts them. Source:
// PaddlePaddle/Paddle#10816.
#include <limits>
#include <vector>

#include <catch2/catch.hpp>

#include <lamina/lamina.hpp>

namespace layer = lamina::layer;
namespace optimizer = lamina::optimizer;

namespace {

// The gradient of w is 1 in each step.
constexpr auto net = lamina::program([](lamina::block& main) {
  auto x = layer::data<"x", float, 1>(main);
  return layer::mean(layer::fc<1>(
      x, {.param = {.name = "w", .initializer = lamina::init::constant(0)}, .bias = false}));
});
struct sample {
  float x;
};
/// Trains in mini-batches of two; `change` is called after each of three.
template <class Opt, class Change>
double trained(Opt& opt, lamina::train_options& options, const Change& change) {
  const std::vector<sample> all(6, sample{1});
  lamina::model m{net};
  options.on_event = [&](const lamina::event& e) {
    if (e.is_end_iteration()) change(e);
  };
  opt.train(m, all | lamina::reader::batch(2), options);
  return static_cast<double>(m.template parameter<"w">().flat(0));
}

}  // namespace

TEST_CASE("options changed while training: learning rate, clip, decay, passes", "[threads]") {
  for (const int threads : {1, 2}) {
    lamina::train_options options{.threads = threads};
    optimizer::sgd sgd{.learning_rate = 1.f};
    const auto slower = [&](const lamina::event& e) {
      sgd.learning_rate = e.batch == 0 ? 0.1f : 0.01f;
    };
    CHECK(trained(sgd, options, slower) == Approx(-1.11));
    optimizer::sgd clipped{.learning_rate = 1.f};
    const auto clip = [&](const lamina::event&) { clipped.clip = lamina::clip_by_value(0.25f); };
    CHECK(trained(clipped, options, clip) == Approx(-1.5));
    optimizer::sgd decayed{.learning_rate = 1.f};
    const auto decay = [&](const lamina::event& e) {
      decayed.regularization = e.batch == 0 ? lamina::l2_decay(0.5f) : lamina::regularizer{};
    };
    CHECK(trained(decayed, options, decay) == Approx(-1 - 0.5 - 1));
    optimizer::momentum momentum{.learning_rate = 1.f, .momentum = 0.5f};
    const auto stop = [&](const lamina::event&) { momentum.momentum = 0; };
    CHECK(trained(momentum, options, stop) == Approx(-3));
    optimizer::sgd again{.learning_rate = 1.f};
    const auto longer = [&](const lamina::event&) { options.passes = 2; };
    CHECK(trained(again, options, longer) == Approx(-6));
  }
}
TEST_CASE("options changed while training: what cannot change is an error", "[threads]") {
  optimizer::sgd sgd{.learning_rate = 1.f};
  lamina::train_options options{};
  CHECK_THROWS_WITH(
      trained(sgd, options, [&](const lamina::event&) { sgd.clip = lamina::clip_by_norm(1); }),
      "lamina: train: expected a clip by norm to be there when training begins, "
      "found one that was set later (mini-batch 1 of pass 0)");
  optimizer::sgd other{.learning_rate = 1.f};
  // A rate that a handler computes wrongly, as 0 / 0, would make every parameter NaN.
  for (const float rate : {std::numeric_limits<float>::quiet_NaN(), -1.f}) {
    optimizer::sgd changed{.learning_rate = 1.f};
    CHECK_THROWS_WITH(
        trained(changed, options, [&](const lamina::event&) { changed.learning_rate = rate; }),
        Catch::Matchers::StartsWith("lamina: sgd: learning_rate: expected a finite number of at "
                                    "least 0, found "));
  }
  CHECK_THROWS_WITH(trained(other, options, [&](const lamina::event&) { options.threads = 2; }),
                    "lamina: train: expected threads and seed of the options to stay 1 and 0 until "
                    "training is over, found 2 and 0");
}
namespace {
template <class A>
concept takes_assignment = requires(A (*array)()) {
  array().flat(0) = 1;
  array()(0) = 1;
};
}  // namespace
TEST_CASE("options changed while training: an element of a copy that nobody keeps takes none") {
  // m.parameter<"w">().flat(0) = 1 would change nothing.
  STATIC_REQUIRE_FALSE(takes_assignment<lamina::array<float>>);
  STATIC_REQUIRE(takes_assignment<lamina::array<float>&>);
}
