// SPDX-License-Identifier: Apache-2.0
// Measures how much time sequences without padding save: a training step of an LSTM (width 128) on
// 16 sequences of 10 to 100 elements, and on the same sequences padded to the longest. Both report
// the number of real elements per second.
#include <algorithm>
#include <random>
#include <tuple>
#include <vector>

#include <benchmark/benchmark.h>

#include <lamina/lamina.hpp>

namespace layer = lamina::layer;

namespace {

constexpr int hidden = 128;
constexpr auto net = lamina::program([](lamina::block& main) {
  auto x = layer::sequence<"x", float, 64>(main);
  auto y = layer::data<"y", float, hidden>(main);
  auto [h, c] = layer::dynamic_lstm<4 * hidden>(layer::fc<4 * hidden>(x, {.bias = false}));
  return layer::mean(layer::square_error_cost(layer::sequence_last_step(h), y));
});
using program = std::remove_const_t<decltype(net)>;

struct sample {
  std::vector<float> x, y;
};

std::vector<sample> sequences(bool padded, std::int64_t& real) {
  std::mt19937 random(5);
  std::normal_distribution<float> normal;
  std::vector<sample> all;
  for (int i = 0; i < 16; ++i) {
    const std::size_t length = 10 + static_cast<std::size_t>(i) * 6;
    real += static_cast<std::int64_t>(length);
    sample s{std::vector<float>(length * 64), std::vector<float>(hidden)};
    for (float& v : s.x) v = normal(random);
    for (float& v : s.y) v = 0.1f * normal(random);
    if (padded) s.x.resize(100 * 64);
    all.push_back(s);
  }
  return all;
}

void train(benchmark::State& state, bool padded) {
  std::int64_t real = 0;
  const auto batch = sequences(padded, real);
  lamina::model model{net};
  const lamina::optimizer::sgd sgd{.learning_rate = 1e-4f};
  lamina::cpu_trainer<program, lamina::optimizer::sgd> trainer(sgd, model);
  lamina::feeder<program> feeder;
  feeder.fill(batch);
  const auto view = feeder.view();
  for (auto _ : state) benchmark::DoNotOptimize(trainer.step(view));
  state.SetItemsProcessed(state.iterations() * real);
}
void ragged(benchmark::State& state) { train(state, false); }
void padded(benchmark::State& state) { train(state, true); }
BENCHMARK(ragged)->Unit(benchmark::kMicrosecond);
BENCHMARK(padded)->Unit(benchmark::kMicrosecond);

}  // namespace
