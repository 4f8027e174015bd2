// SPDX-License-Identifier: Apache-2.0
// The nets of benchmarks/distributed/run, one per compilation: NET is 1 for LeNet, 2 for the ResNet
// of W7, 3 for the recurrence of examples/text/char_rnn.cpp, 4 for a perceptron of 20 million
// numbers.

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string_view>
#include <tuple>
#include <type_traits>

#include "../networks/lenet.hpp"
#include "../networks/resnet.hpp"
#include "step.hpp"

#include <lamina/core/numbers/philox.hpp>
#include <lamina/distributed/sync/bucket_memory.hpp>
#include <lamina/lamina.hpp>

namespace {

namespace layer = lamina::layer;
using clock_type = std::chrono::steady_clock;

#if NET == 1 || NET == 2
constexpr auto net = lamina::program(
    [](lamina::block& main) { return NET == 1 ? networks::lenet(main) : networks::resnet(main); });
constexpr std::size_t inputs = NET == 1 ? 784 : 3072;
#elif NET == 4
constexpr std::size_t inputs = 784;
constexpr auto net = lamina::program([](lamina::block& main) {
  auto image = layer::data<"image", float, 784>(main);
  auto label = layer::data<"label", std::int64_t>(main);
  auto h1 = layer::fc<2048>(image, {.act = lamina::activation::relu});
  auto h2 = layer::fc<4096>(h1, {.act = lamina::activation::relu});
  auto h3 = layer::fc<2400>(h2, {.act = lamina::activation::relu});
  return layer::mean(layer::softmax_with_cross_entropy(layer::fc<10>(h3), label));
});
#else
constexpr int alphabet = 96, width = 256, length = 64;
constexpr auto net = lamina::program([](lamina::block& main) {
  auto characters = layer::sequence<"characters", std::int64_t>(main);
  auto next = layer::sequence<"next", std::int64_t>(characters);
  auto gates_in = layer::embedding<alphabet, 2 * width>(characters);
  auto candidate_in = layer::embedding<alphabet, width>(characters);
  auto states = layer::dynamic_rnn(characters, [&](auto& step) {
    auto before = step.memory(lamina::dims<width>);
    auto from_state = layer::fc<2 * width>(before);
    auto [update, reset] = layer::split<2>(layer::sigmoid(step.input(gates_in) + from_state));
    auto rest = layer::fc<width>(reset * before);
    auto state = before + update * (layer::tanh(step.input(candidate_in) + rest) - before);
    step.update(before, state);
    return state;
  });
  return layer::mean(layer::softmax_with_cross_entropy(layer::fc<alphabet>(states), next));
});
#endif

std::uint32_t draw(std::uint64_t i) { return lamina::philox(1, 0, i).word[0]; }

auto samples(int rows) {
#if NET == 3
  std::vector<std::tuple<std::vector<std::int64_t>, std::vector<std::int64_t>>> all;
  for (int i = 0; i < rows; ++i) {
    std::vector<std::int64_t> from, to;
    for (int k = 0; k < length; ++k) {
      from.push_back(draw(static_cast<std::uint64_t>(i * length + k)) % alphabet);
      to.push_back((from.back() * 7 + 1) % alphabet);
    }
    all.push_back({from, to});
  }
#else
  std::vector<std::tuple<std::array<float, inputs>, std::int64_t>> all(
      static_cast<std::size_t>(rows));
  std::uint64_t n = 0;
  for (auto& [image, label] : all) {
    for (float& f : image) f = static_cast<float>(draw(n++) % 2001) / 1000.0f - 1.0f;
    label = draw(n++) % 10;
  }
#endif
  return all;
}

double micros(clock_type::time_point from) {
  return std::chrono::duration<double, std::micro>(clock_type::now() - from).count();
}

/// Runs the half of each mini-batch that belongs to rank 0 of two, without the other one, and notes
/// when each group has run.
class timed_sync final : public lamina::parameter_sync {
 public:
  timed_sync(const lamina::trained_arrays& of, std::vector<std::vector<double>>& to)
      : parameter_sync(0, 2), times(of.times, of.times + of.count), to_(to) {
    for (int i = 0; i < of.count; ++i)
      floats.push_back(of.gradients[i] != nullptr ? of.floats[i] : 0);
  }
  void begin(const lamina::sync_facts&, float* const*, int) override {}
  void require_samples(std::uint64_t, bool) override {}
  void gather_rows(std::int64_t*, std::int64_t*, int) override {}
  void gather_facts(void*, std::size_t, int, int) override {}
  void average(const float* const*, float* const*, const std::size_t*, int,
               const lamina::part_weights&) override {}
  void all_reduce_sum(double*, std::size_t) override {}
  void all_reduce_sum(lamina::metric_sum&, bool) override {}
  void reduce_rows(lamina::engine::cpu::basic_selected_rows<float>* const*, int,
                   const lamina::part_weights&) override {}
  void reduce_rows(lamina::engine::cpu::basic_selected_rows<double>* const*, int,
                   const lamina::part_weights&) override {}
  void gather_sums() override {}
  std::int64_t collect(float* const*, int, std::int64_t steps) override { return steps; }
  void update(const lamina::update_facts&, update_function, void*, lamina::worker_pool&) override {}
  void begin_step(const lamina::part_weights&, int, update_function, void*) override {
    to_.emplace_back();
    begin_ = clock_type::now();
  }
  void advance(int, int group) override {
    if (group < 0) return;
    to_.back().resize(static_cast<std::size_t>(group) + 1, micros(begin_));
  }
  void reduce(const lamina::part_weights&, lamina::worker_pool&) override {
    to_.back().push_back(micros(begin_));
  }

  std::vector<lamina::gradient_times> times;
  std::vector<std::size_t> floats;

 private:
  std::vector<std::vector<double>>& to_;
  clock_type::time_point begin_;
};
class timed_world final : public lamina::world {
 public:
  timed_world() : world(0, 2) {}
  std::unique_ptr<lamina::parameter_sync> make_sync(const lamina::trained_arrays& of) override {
    auto made = std::make_unique<timed_sync>(of, groups);
    times = made->times, floats = made->floats;
    return made;
  }
  std::int64_t all_reduce_sum(std::int64_t mine) override { return mine; }
  /// Both have the same.
  void gather(const void* mine, std::size_t bytes, void* all) override {
    for (int r = 0; bytes > 0 && r < size_; ++r)
      std::memcpy(static_cast<char*>(all) + static_cast<std::size_t>(r) * bytes, mine, bytes);
  }
  void fail(std::string_view) noexcept override {}
  std::vector<lamina::gradient_times> times;
  std::vector<std::size_t> floats;
  std::vector<std::vector<double>> groups;  // by step: microseconds by group, and of the run
};

}  // namespace

std::vector<double> time_steps(const step_request& request) {
  std::vector<double> took;
  clock_type::time_point begin;
  const lamina::optimizer::adam adam;
  lamina::model m{net};
  lamina::trainer t{m,
                    adam,
                    {.threads = request.threads,
                     .on_event =
                         [&](const lamina::event& e) {
                           if (e.kind == lamina::event_kind::begin_iteration)
                             begin = clock_type::now();
                           if (e.kind == lamina::event_kind::end_forward_backward)
                             took.push_back(micros(begin));
                         },
                     .world = request.world}};
  // One pass, because the end of a pass collects the state of the optimizer.
  t.pass(samples(request.steps * request.rows) | lamina::reader::batch(request.rows));
  return took;
}

std::vector<bucket_times> time_buckets(const step_request& request, std::size_t bucket_bytes,
                                       double& run) {
  timed_world world;
  step_request alone = request;
  alone.world = &world;
  time_steps(alone);
  const auto median = [&](auto&& of) {
    std::vector<double> all;
    for (const auto& step : world.groups) all.push_back(of(step));
    std::nth_element(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(all.size() / 2),
                     all.end());
    return all[all.size() / 2];
  };
  const auto behind = [&](int group) {
    if (group < 0) return 0.0;
    return median([&](const std::vector<double>& step) {
      return step[std::min(static_cast<std::size_t>(group), step.size() - 1)];
    });
  };
  run = median([](const std::vector<double>& step) { return step.back(); });
  std::vector<bucket_times> found;
  const lamina::distributed::gradient_shards shards(2, world.floats, world.times.data(),
                                                    bucket_bytes, false);
  for (const auto& b : shards.buckets())
    found.push_back(
        {b.floats * sizeof(float), behind(b.times.complete), behind(b.times.last_read)});
  return found;
}
