// SPDX-License-Identifier: Apache-2.0
// W1, W1f and W1b in libtorch, for comparison with benchmarks/w1.cpp: one thread, eager.
// Built where libtorch is installed; run by benchmarks/compare_w1.py, which sets what makes it fast.
#include <benchmark/benchmark.h>
#include <torch/torch.h>

namespace {

torch::nn::Sequential network() {
  using torch::nn::Linear;
  using torch::nn::ReLU;
  return torch::nn::Sequential(Linear(784, 128), ReLU(), Linear(128, 64), ReLU(), Linear(64, 10));
}

template <class Optimizer, class Options>
void train(benchmark::State& state, const Options& options) {
  at::set_num_threads(1);
  torch::manual_seed(1);
  auto net = network();
  Optimizer optimizer(net->parameters(), options);
  const auto x = torch::randn({64, 784});
  const auto y = torch::randint(10, {64}, torch::kLong);
  for (auto _ : state) {
    optimizer.zero_grad();
    auto cost = torch::nn::functional::cross_entropy(net->forward(x), y);
    cost.backward();
    optimizer.step();
    benchmark::DoNotOptimize(cost);
  }
}
void w1_sgd(benchmark::State& state) {
  train<torch::optim::SGD>(state, torch::optim::SGDOptions(1e-4));
}
void w1_adam(benchmark::State& state) {
  train<torch::optim::Adam>(state, torch::optim::AdamOptions(1e-4));
}
void forward(benchmark::State& state) {
  at::set_num_threads(1);
  const c10::InferenceMode guard;
  auto net = network();
  const auto x = torch::randn({state.range(0), 784});
  for (auto _ : state) {
    auto y = net->forward(x);
    benchmark::DoNotOptimize(y);
  }
}

BENCHMARK(w1_sgd)->Name("W1")->Unit(benchmark::kMicrosecond);
BENCHMARK(w1_adam)->Name("W1adam")->Unit(benchmark::kMicrosecond);
BENCHMARK(forward)->Name("W1f")->Arg(64)->Unit(benchmark::kMicrosecond);
BENCHMARK(forward)->Name("W1b")->Arg(1)->Unit(benchmark::kMicrosecond);

}  // namespace
