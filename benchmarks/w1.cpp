// SPDX-License-Identifier: Apache-2.0
// W1: a training step of a perceptron 784-128-64-10 with relu, softmax cross entropy and SGD at
// batch 64; its forward pass at batch 64 (W1f) and at batch 1 (W1b). benchmarks/w1_libtorch.cpp is
// the same network in libtorch, benchmarks/compare_w1.py runs both in turn.
#include <random>
#include <vector>

#include <benchmark/benchmark.h>

#include <lamina/lamina.hpp>

namespace layer = lamina::layer;
using lamina::activation;

namespace {

constexpr auto w1 = lamina::program([](lamina::block& main) {
  auto image = layer::data<"image", float, 784>(main);
  auto label = layer::data<"label", std::int64_t>(main);
  auto h1 = layer::fc<128>(image, {.act = activation::relu});
  auto h2 = layer::fc<64>(h1, {.act = activation::relu});
  auto logits = layer::fc<10>(h2, {.name = "logits"});
  return layer::mean(layer::softmax_with_cross_entropy(logits, label));
});
using program = std::remove_const_t<decltype(w1)>;

struct inputs {
  std::vector<float> images;
  std::vector<std::int64_t> labels;
  explicit inputs(int rows) : images(static_cast<std::size_t>(rows) * 784), labels(rows) {
    std::mt19937 random(1);
    std::normal_distribution<float> normal;
    for (float& x : images) x = normal(random);
    for (auto& y : labels) y = static_cast<std::int64_t>(random() % 10);
  }
  lamina::batch_view<program> view() const {
    const void* arrays[] = {images.data(), labels.data()};
    return lamina::batch_view<program>::dense(static_cast<int>(labels.size()), arrays);
  }
};

template <class Opt>
void train(benchmark::State& state, const Opt& opt) {
  const inputs batch(64);
  lamina::model model{w1};
  lamina::trainer<program, Opt> trainer(opt, model);
  for (auto _ : state) benchmark::DoNotOptimize(trainer.step(batch.view()));
}
void w1_sgd(benchmark::State& state) {
  train(state, lamina::optimizer::sgd{.learning_rate = 1e-4f});
}
void w1_adam(benchmark::State& state) {
  train(state, lamina::optimizer::adam{.learning_rate = 1e-4f});
}
void forward(benchmark::State& state) {
  const int rows = static_cast<int>(state.range(0));
  const inputs batch(rows);
  lamina::model model{w1};
  lamina::evaluator e{model};
  for (auto _ : state) {
    e.forward(lamina::feed<"image">(batch.images));
    benchmark::DoNotOptimize(e.activation<"logits">().data());
    benchmark::ClobberMemory();
  }
}

BENCHMARK(w1_sgd)->Name("W1")->Unit(benchmark::kMicrosecond);
BENCHMARK(w1_adam)->Name("W1adam")->Unit(benchmark::kMicrosecond);
BENCHMARK(forward)->Name("W1f")->Arg(64)->Unit(benchmark::kMicrosecond);
BENCHMARK(forward)->Name("W1b")->Arg(1)->Unit(benchmark::kMicrosecond);

}  // namespace
