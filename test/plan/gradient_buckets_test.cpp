// SPDX-License-Identifier: Apache-2.0
// The table of buckets says the truth about runs: behind the group that it names, a gradient does
// not change any more, and a parameter is not read any more.

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <memory>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <vector>

#include <catch2/catch.hpp>

#include <lamina/lamina.hpp>
#include <lamina/plan/gradient_buckets.hpp>

namespace {

namespace layer = lamina::layer;
using lamina::activation;

/// Runs the half of each mini-batch that belongs to rank 0 and notes what a run does behind each
/// group.
class watching_sync final : public lamina::parameter_sync {
 public:
  watching_sync(const lamina::trained_arrays& of, bool poisons)
      : parameter_sync(0, 2),
        poisons_(poisons),
        times_(of.times, of.times + of.count),
        floats_(of.floats, of.floats + of.count),
        gradients_(of.gradients, of.gradients + of.count),
        values_(of.values, of.values + of.count),
        changed(static_cast<std::size_t>(of.count), -1) {
    for (std::size_t i = 0; i < floats_.size(); ++i)
      if (gradients_[i] == nullptr) floats_[i] = 0;
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
  std::int64_t gather_states(float* const*, int, std::int64_t steps) override { return steps; }
  void update(const lamina::update_facts&, update_function, void*, lamina::worker_pool&) override {}

  void begin_step(const lamina::part_weights&, int, update_function, void*) override {
    for (std::size_t i = 0; i < floats_.size(); ++i) {
      std::fill_n(gradients_[i], floats_[i], 1e30f);  // differs from any gradient
      saved_.emplace_back(values_[i], values_[i] + floats_[i]);
    }
    watch(-1);
    group_ = -1;
  }
  void advance(int, int group) override {
    if (group < 0) {
      ++inner;
      return;  // a group of the loop that follows group_
    }
    group_ = group;
    ++outer;
    watch(group);
    for (std::size_t i = 0; poisons_ && i < floats_.size(); ++i)
      if (times_[i].last_read <= group)
        std::fill_n(values_[i], floats_[i], std::numeric_limits<float>::quiet_NaN());
  }
  void reduce(const lamina::part_weights&, lamina::worker_pool&) override {
    watch(group_ + 1);
    reached = last_;
    for (std::size_t i = 0; i < floats_.size(); ++i)
      std::copy(saved_[i].begin(), saved_[i].end(), values_[i]);
    saved_.clear();
  }

 private:
  void watch(int group) {
    last_.resize(floats_.size());
    for (std::size_t i = 0; i < floats_.size(); ++i) {
      const std::vector<float> now(gradients_[i], gradients_[i] + floats_[i]);
      const auto same = [](const std::vector<float>& a, const std::vector<float>& b) {
        return a.size() == b.size() &&
               std::equal(reinterpret_cast<const unsigned char*>(a.data()),
                          reinterpret_cast<const unsigned char*>(a.data() + a.size()),
                          reinterpret_cast<const unsigned char*>(b.data()));
      };
      if (group >= 0 && !same(now, last_[i])) changed[i] = group;
      last_[i] = now;
    }
  }

  bool poisons_;
  int group_ = -1;
  std::vector<lamina::gradient_times> times_;
  std::vector<std::size_t> floats_;
  std::vector<float*> gradients_, values_;
  std::vector<std::vector<float>> saved_, last_;

 public:
  std::vector<int> changed;  // by parameter: the last group that changed its gradient
  std::vector<std::vector<float>> reached;  // the gradients of the last run
  int outer = 0, inner = 0;                 // groups that were told
};

class watching_world final : public lamina::world {
 public:
  explicit watching_world(bool poisons) : world(0, 2), poisons_(poisons) {}
  std::unique_ptr<lamina::parameter_sync> make_sync(const lamina::trained_arrays& of) override {
    auto made = std::make_unique<watching_sync>(of, poisons_);
    found = made.get();
    return made;
  }
  std::int64_t all_reduce_sum(std::int64_t mine) override { return mine; }
  void gather(const void* mine, std::size_t bytes, void* all) override {
    for (int r = 0; r < size(); ++r)
      std::memcpy(static_cast<char*>(all) + static_cast<std::size_t>(r) * bytes, mine, bytes);
  }
  void fail(std::string_view) noexcept override {}
  watching_sync* found = nullptr;

 private:
  bool poisons_;
};

/// Trains one mini-batch in each way and compares what the table says.
template <const auto& Net, class Samples>
watching_sync check_runs(const Samples& samples) {
  using net = std::remove_cvref_t<decltype(Net)>;
  using trained = lamina::training_program<net, lamina::optimizer::sgd>;
  constexpr auto& order = lamina::gradient_order<trained>::table;
  const lamina::optimizer::sgd sgd{.learning_rate = 0.1f};
  watching_world clean(false), poisoned(true);
  lamina::model<net> m{Net};
  lamina::trainer first{m, sgd, {.world = &clean}};
  first.pass(samples | lamina::reader::batch(8));
  lamina::trainer second{m, sgd, {.world = &poisoned}};
  second.pass(samples | lamina::reader::batch(8));
  CHECK(clean.found->outer > 0);
  CHECK(clean.found->reached == poisoned.found->reached);  // NaN would differ from itself
  for (std::size_t i = 0; i < clean.found->changed.size(); ++i) {
    CAPTURE(i, order.of[i].complete, order.of[i].last_read, order.groups);
    if (clean.found->reached[i].empty()) continue;
    CHECK(clean.found->changed[i] == order.of[i].complete);
    CHECK(order.of[i].complete < order.groups);
  }
  return *clean.found;
}

template <const auto& Net>
using buckets_of = lamina::gradient_buckets<
    lamina::training_program<std::remove_cvref_t<decltype(Net)>, lamina::optimizer::sgd>, 4096>;

/// Whether buckets are in order, none is too large, and each gradient is there once.
template <class Buckets>
constexpr bool is_in_order(std::size_t floats) {
  int complete = -1;
  std::size_t all = 0;
  for (const auto& b : Buckets::table.of) {
    if (b.complete < complete || b.floats > 4096 / sizeof(float)) return false;
    complete = b.complete;
    all += b.floats;
  }
  return all == floats;
}

constexpr auto dense = lamina::program([](lamina::block& main) {
  auto x = layer::data<"x", float, 40>(main);
  auto y = layer::data<"y", std::int64_t>(main);
  auto h = layer::fc<64>(layer::fc<64>(x, {.act = activation::relu}), {.act = activation::relu});
  return layer::mean(layer::softmax_with_cross_entropy(layer::fc<10>(h), y));
});
// 40 x 64, 64 x 64 and 64 x 16 (padded) weights, and biases.
static_assert(is_in_order<buckets_of<dense>>(2560 + 4096 + 1024 + 64 + 64 + 16));
// The last layer first: its weights are complete in front of those of the first layer.
static_assert(buckets_of<dense>::table.parts[0].parameter >= 4);
static_assert(buckets_of<dense>::table.of[0].complete <
              buckets_of<dense>::table.of[buckets_of<dense>::count.buckets - 1].complete);

constexpr auto conv = lamina::program([](lamina::block& main) {
  auto x = layer::data<"x", float, 1, 8, 8>(main);
  auto y = layer::data<"y", std::int64_t>(main);
  auto h = layer::batch_norm(layer::conv2d<6, 3, lamina::window{.padding = 1}>(x),
                             {.act = activation::relu});
  auto c = layer::conv2d<4, 3>(h, {.act = activation::relu});
  return layer::mean(layer::softmax_with_cross_entropy(layer::fc<3>(c), y));
});

constexpr auto lstm = lamina::program([](lamina::block& main) {
  auto words = layer::sequence<"words", std::int64_t>(main);
  auto y = layer::data<"y", std::int64_t>(main);
  auto gates = layer::fc<32>(layer::embedding<20, 6>(words));
  auto hidden = std::get<0>(layer::dynamic_lstm<32>(gates));
  return layer::mean(layer::softmax_with_cross_entropy(
      layer::fc<3>(layer::sequence_pool(hidden, {.type = lamina::pooling_type::last})), y));
});

// The embedding is used twice: its gradient is complete behind the later use.
constexpr auto tied = lamina::program([](lamina::block& main) {
  auto x = layer::data<"x", float, 40>(main);
  auto y = layer::data<"y", std::int64_t>(main);
  auto h = layer::fc<40>(x, {.act = activation::tanh, .param = {.name = "both"}, .bias = false});
  h = layer::fc<40>(h, {.act = activation::tanh, .param = {.name = "both"}, .bias = false});
  return layer::mean(layer::softmax_with_cross_entropy(layer::fc<10>(h), y));
});

constexpr auto loop = lamina::program([](lamina::block& main) {
  auto words = layer::sequence<"words", std::int64_t>(main);
  auto y = layer::data<"y", std::int64_t>(main);
  auto rows = layer::embedding<20, 6>(words);
  auto states = layer::dynamic_rnn(rows, [&](auto& step) {
    auto before = step.memory(lamina::dims<16>);
    auto state = layer::tanh(layer::fc<16>(step.input(rows)) + layer::fc<16>(before));
    step.update(before, state);
    return state;
  });
  return layer::mean(layer::softmax_with_cross_entropy(
      layer::fc<3>(layer::sequence_pool(states, {.type = lamina::pooling_type::last})), y));
});

template <std::size_t N>
auto images(int classes) {
  std::vector<std::tuple<std::array<float, N>, std::int64_t>> all(8);
  for (std::size_t i = 0; i < all.size(); ++i) {
    for (std::size_t k = 0; k < N; ++k)
      std::get<0>(all[i])[k] = static_cast<float>((i * 7 + k * 3) % 11) / 5 - 1;
    std::get<1>(all[i]) = static_cast<std::int64_t>(i) % classes;
  }
  return all;
}
auto texts() {
  std::vector<std::tuple<std::vector<std::int64_t>, std::int64_t>> all(8);
  for (std::size_t i = 0; i < all.size(); ++i) {
    for (std::size_t k = 0; k < 3 + i % 4; ++k)
      std::get<0>(all[i]).push_back(static_cast<std::int64_t>((i * 5 + k * 3) % 20));
    std::get<1>(all[i]) = static_cast<std::int64_t>(i % 3);
  }
  return all;
}

}  // namespace

TEST_CASE("gradients of dense layers and convolutions are complete when the table says so") {
  check_runs<dense>(images<40>(10));
  check_runs<conv>(images<64>(3));
}

TEST_CASE("gradients of shared parameters are complete behind the last use") {
  using trained =
      lamina::training_program<std::remove_cv_t<decltype(tied)>, lamina::optimizer::sgd>;
  constexpr auto& times = lamina::gradient_order<trained>::table;
  STATIC_REQUIRE(times.of[0].complete > times.of[1].complete);
  check_runs<tied>(images<40>(10));
}

TEST_CASE("gradients of sequences are complete when the table says so") {
  check_runs<lstm>(texts());
}

TEST_CASE("gradients of loops are complete when the table says so") {
  CHECK(check_runs<loop>(texts()).inner > 0);
}
