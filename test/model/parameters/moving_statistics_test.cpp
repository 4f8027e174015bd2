// SPDX-License-Identifier: Apache-2.0
// batch_norm in training: moving statistics follow the batches on one thread and on several, are
// saved with the model, and belong to nobody who only reads it.
#include <cmath>

#include "train/net.hpp"

#include <lamina/model/parameters/moving_statistics.hpp>

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

TEST_CASE("moving statistics are those of the batch and the ones before") {
  const auto samples = test::samples(8);
  const model m = trained(1, 8);
  const auto mean = m.parameter<"norm.w_1">(), variance = m.parameter<"norm.w_2">();
  REQUIRE(mean.size() == 6);
  for (std::size_t c = 0; c < 6; ++c) {
    double sum = 0, square = 0;
    for (const auto& s : samples) sum += s.x[c];
    for (const auto& s : samples) square += std::pow(s.x[c] - sum / 8, 2);
    CHECK(mean(c) == Approx(0.5 * sum / 8).margin(1e-6));
    CHECK(variance(c) == Approx(0.5 + 0.5 * square / 8).margin(1e-6));
  }
}

TEST_CASE("who only reads a model leaves its moving statistics alone") {
  model m = trained(1, 8);
  const auto before = test::bytes_of(m);
  const auto samples = test::samples(12);
  lamina::gradient_machine g{m};
  const float cost = g.backward(samples);
  CHECK(g.backward(samples) == cost);
  lamina::evaluator e{m};
  const double tested = e.test(samples | test::reader::batch(12)).cost;
  CHECK(e.test(samples | test::reader::batch(5)).cost == Approx(tested));
  CHECK(tested != Approx(cost));
  CHECK(test::bytes_of(m) == before);
}

TEST_CASE("a model that shares parameters shares the statistics") {
  model m{net};
  model twin{net, lamina::share_parameters_of(m)};
  test::optimizer::sgd{}.train(m, test::samples(8) | test::reader::batch(8), {.passes = 1});
  CHECK(twin.parameter<"norm.w_1">()(0) == m.parameter<"norm.w_1">()(0));
  CHECK(twin.parameter<"norm.w_1">()(0) != 0);
}

namespace {

// Source: FluxML/Flux.jl#2716.
constexpr auto behind_fc = lamina::program([](lamina::block& main) {
  auto x = layer::data<"x", float, 2>(main);
  auto y = layer::data<"y", float>(main);
  auto h = layer::fc<4>(x, {.name = "first"});
  auto n = layer::batch_norm(
      h, {.bias_param = {.initializer = lamina::init::constant(0.5f)}, .name = "norm"});
  auto images = layer::batch_norm(layer::reshape<4, 1, 1>(n), {.name = "images"});
  auto out = layer::fc<1>(layer::reshape<4>(images), {.name = "last"});
  return layer::mean(layer::square_error_cost(out, y));
});

struct point {
  std::array<float, 2> x;
  float y;
};

}  // namespace

TEST_CASE("a mini-batch of one number a channel passes as it is, and what is before it learns") {
  std::vector<point> all;
  for (int i = 0; i < 32; ++i) {
    const float a = static_cast<float>(i % 8) / 8, b = static_cast<float>(i / 8) / 8;
    all.push_back({{a, b}, a - 2 * b});
  }
  lamina::model m{behind_fc};
  const auto mean = m.parameter<"norm.w_1">(), scale = m.parameter<"norm.w_0">();
  const auto first = m.parameter<"first.w_0">();
  double cost = 1;
  test::optimizer::adam{.learning_rate = 0.01f}.train(
      m, all | test::reader::batch(1), {.passes = 40, .on_event = [&](const lamina::event& e) {
                                          if (e.is_end_pass()) cost = e.cost;
                                        }});
  CHECK(cost < 1e-3);
  CHECK(m.parameter<"norm.w_1">() == mean);
  CHECK(m.parameter<"norm.w_0">() == scale);
  CHECK_FALSE(m.parameter<"first.w_0">() == first);
}
