// SPDX-License-Identifier: Apache-2.0
// The kernels of the device, run on the host body for body, compute what the CPU's engine does.
#include <cmath>
#include <random>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include <lamina/engine/cuda/host_backend.hpp>
#include <lamina/layers/layers.hpp>
#include <lamina/optimizer/adam.hpp>
#include <lamina/optimizer/momentum.hpp>
#include <lamina/optimizer/sgd.hpp>
#include <lamina/train/device_trainer.hpp>

namespace {

namespace layer = lamina::layer;
namespace cuda = lamina::engine::cuda;
using lamina::activation;

/// Samples of 13 numbers, fewer than a padded row, and a label of 5.
struct samples {
  std::vector<float> x;
  std::vector<std::int64_t> label;
  explicit samples(int n) {
    std::mt19937 random(5);
    std::uniform_real_distribution<float> number(-1, 1);
    for (int i = 0; i < n * 13; ++i) x.push_back(number(random));
    for (int i = 0; i < n; ++i) label.push_back(static_cast<std::int64_t>(random() % 5));
  }
};

template <class P>
lamina::batch_view<P> batch_of(const samples& s, int first, int n) {
  const void* const data[] = {s.x.data() + first * 13, s.label.data() + first};
  return lamina::batch_view<P>::dense(n, data);
}

constexpr auto classes = lamina::program([](lamina::block& main) {
  auto x = layer::data<"x", float, 13>(main);
  auto label = layer::data<"label", std::int64_t>(main);
  auto h = layer::fc<20>(x, {.act = activation::relu});
  h = layer::dropout(h, 0.25f);
  auto g = layer::fc<33>(h, {.act = activation::tanh});
  auto logits = layer::fc<5>(g, {.name = "logits"});
  layer::accuracy(logits, label, {.name = "accuracy"});
  return layer::mean(layer::softmax_with_cross_entropy(logits, label));
});

template <class P, class Opt, int Threads>
void train_both(P program, const Opt& opt, std::integral_constant<int, Threads>) {
  lamina::model on_cpu{program, 3}, at_place{program, 3};
  lamina::trainer<P, Opt> expected(opt, on_cpu, 1, 11);
  cuda::host_backend<Threads> backend;
  lamina::device_trainer<P, Opt, cuda::host_backend<Threads>> found(backend, opt, at_place, 11);
  const samples s(40);
  const int sizes[] = {7, 12, 7, 1};
  int first = 0;
  for (const int n : sizes) {
    const float wanted = expected.step(batch_of<P>(s, first, n));
    const float cost = found.step(batch_of<P>(s, first, n));
    CHECK(cost == Approx(wanted).epsilon(1e-5));
    for (int i = 0; i < lamina::program_metrics<P>::count; ++i)
      CHECK(found.metric(i) == Approx(expected.metric(i)));
    first += n;
  }
  found.bring_back();
  for (int i = 0; i < P::desc.count.parameters; ++i) {
    const auto a = on_cpu.get(i), b = at_place.get(i);
    REQUIRE(a.size() == b.size());
    double difference = 0, largest = 0;
    for (std::size_t k = 0; k < a.size(); ++k) {
      difference = std::max(difference, std::abs(double(a.data()[k]) - double(b.data()[k])));
      largest = std::max(largest, std::abs(double(a.data()[k])));
    }
    INFO("parameter " << i);
    CHECK(largest > 0);
    CHECK(difference <= 2e-5 * largest);
  }
}

template <int N>
constexpr std::integral_constant<int, N> threads{};

}  // namespace

TEST_CASE("training at a place computes what training on the CPU does") {
  SECTION("sgd, a team of one") {
    train_both(classes, lamina::optimizer::sgd{.learning_rate = 0.1f}, threads<1>);
  }
  SECTION("adam, a team of one") {
    train_both(classes, lamina::optimizer::adam{.learning_rate = 0.01f}, threads<1>);
  }
  SECTION("momentum, teams of four") {
    train_both(classes, lamina::optimizer::momentum{.learning_rate = 0.1f}, threads<4>);
  }
}
