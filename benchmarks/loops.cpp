// SPDX-License-Identifier: Apache-2.0
// Measures the overhead of loops. One benchmark is an iteration of a while_loop with an empty body.
// Two others are a training step of a GRU (50 steps, 16 sequences, width 64): in `operator_gru` the
// recurrence is one operator, in `written_gru` it is written by hand in a dynamic_rnn.
#include <random>
#include <tuple>
#include <vector>

#include <benchmark/benchmark.h>

#include <lamina/lamina.hpp>

namespace layer = lamina::layer;

namespace {

constexpr int width = 64, steps = 50, sequences = 16;

constexpr auto operator_net = lamina::program([](lamina::block& main) {
  auto x = layer::sequence<"x", float, width>(main);
  auto y = layer::data<"y", float, width>(main);
  auto h = layer::dynamic_gru<width>(layer::fc<3 * width>(x, {.bias = false}));
  return layer::mean(layer::square_error_cost(layer::sequence_last_step(h), y));
});
constexpr auto written_net = lamina::program([](lamina::block& main) {
  auto x = layer::sequence<"x", float, width>(main);
  auto y = layer::data<"y", float, width>(main);
  auto for_update = layer::fc<width>(x), for_reset = layer::fc<width>(x),
       for_candidate = layer::fc<width>(x);
  auto h = layer::dynamic_rnn(x, [&](auto& step) {
    auto before = step.memory(lamina::dims<width>);
    auto update =
        layer::sigmoid(step.input(for_update) + layer::fc<width>(before, {.bias = false}));
    auto reset = layer::sigmoid(step.input(for_reset) + layer::fc<width>(before, {.bias = false}));
    auto candidate =
        layer::tanh(step.input(for_candidate) + layer::fc<width>(reset * before, {.bias = false}));
    auto next = before + update * (candidate - before);
    step.update(before, next);
    return next;
  });
  return layer::mean(layer::square_error_cost(layer::sequence_last_step(h), y));
});

struct sample {
  std::vector<float> x, y;
};

template <class P>
void train(benchmark::State& state, const P& net) {
  std::mt19937 random(5);
  std::normal_distribution<float> normal;
  std::vector<sample> batch;
  for (int i = 0; i < sequences; ++i) {
    sample s{std::vector<float>(steps * width), std::vector<float>(width)};
    for (float& v : s.x) v = normal(random);
    for (float& v : s.y) v = 0.1f * normal(random);
    batch.push_back(s);
  }
  lamina::model model{net};
  const lamina::optimizer::sgd sgd{.learning_rate = 1e-4f};
  lamina::cpu_trainer<P, lamina::optimizer::sgd> trainer(sgd, model);
  lamina::feeder<P> feeder;
  feeder.fill(batch);
  const auto view = feeder.view();
  for (auto _ : state) benchmark::DoNotOptimize(trainer.step(view));
}
void operator_gru(benchmark::State& state) { train(state, operator_net); }
void written_gru(benchmark::State& state) { train(state, written_net); }
BENCHMARK(operator_gru)->Unit(benchmark::kMicrosecond);
BENCHMARK(written_gru)->Unit(benchmark::kMicrosecond);

constexpr auto counting = lamina::program([](lamina::block& main) {
  auto n = layer::data<"n", std::int64_t>(main);
  auto end = layer::reduce_sum(n);
  auto i = layer::fill_constant<std::int64_t>(main, 0);
  auto going = layer::less_than(i, end);
  layer::while_loop(going, [&](lamina::block&) {
    layer::increment(i);
    layer::less_than(i, end, going);
  });
  return i;
});
void empty_iteration(benchmark::State& state) {
  using program = std::remove_const_t<decltype(counting)>;
  lamina::engine::cpu::machine<program> machine{lamina::external_buffers{}};
  const std::int64_t n = 10000;
  machine.feed(0, &n);
  for (auto _ : state) machine.run(~0ull, 0, 0);
  state.SetItemsProcessed(state.iterations() * n);
}
BENCHMARK(empty_iteration)->Unit(benchmark::kMicrosecond);

}  // namespace
