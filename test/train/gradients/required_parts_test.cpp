// SPDX-License-Identifier: Apache-2.0
// Costs and metrics in parts, by compiled trainers: on threads, over mini-batches of an update, and
// over ranks, which are threads of this process. plan/parts_form_test.cpp has the list of forms.

#include <array>
#include <cmath>
#include <cstddef>
#include <mutex>
#include <string>
#include <vector>

#include "distributed/thread_group.hpp"
#include <catch2/catch.hpp>

#include <lamina/distributed/transpile/grad_all_reduce.hpp>
#include <lamina/lamina.hpp>

namespace {

namespace layer = lamina::layer;
namespace optimizer = lamina::optimizer;
namespace reader = lamina::reader;

struct sample {
  std::array<float, 2> x;
  float y;
};
std::vector<sample> some(int count) {
  std::vector<sample> all;
  for (int i = 0; i < count; ++i) all.push_back({{i % 3 - 0.8f, i % 5 * 0.25f}, (i % 4) * 0.5f});
  return all;
}

enum class kind { smoothed, shifted_sum, weighted, guarded, bent, metric };
/// A cost of kind K of samples x with targets y, and metrics of them.
template <kind K, class X, class Y>
constexpr auto cost_of(lamina::block& main, X x, Y y) {
  auto w = layer::create_parameter<float, 2, 1>(
      main, {.name = "w", .initializer = lamina::init::constant(0.3)});
  auto h = layer::matmul(x, w);
  auto c = layer::square_error_cost(h, y);
  auto mean = layer::mean(c);
  if constexpr (K == kind::metric) layer::sqrt(mean, {.name = "rmse"});
  if constexpr (K == kind::bent) return layer::tanh(mean);
  if constexpr (K == kind::metric) return mean;
  // Each constant counts once, whatever the number of parts.
  auto sum = 0.25f * (layer::reduce_sum(c) + 5.f) - 1.f;
  auto sides = layer::reduce_sum(layer::square(y));
  if constexpr (K == kind::shifted_sum) {
    layer::elementwise_div(2.f * layer::reduce_sum(h * y) + 1.f, layer::reduce_sum(h) + sides + 1.f,
                           {.name = "dice"});
    layer::scale(layer::reduce_sum(h), 2, {.bias = 3, .name = "shifted"});
    return sum;
  }
  if constexpr (K == kind::smoothed)
    return 1.f - (layer::reduce_sum(c) + 1.f) / (2.f * (sides + 1.f));
  if constexpr (K == kind::weighted) return layer::reduce_sum(c) / (2.f * (sides + 1.f));
  if constexpr (K == kind::guarded)
    return layer::reduce_sum(c) /
           layer::elementwise_max(sides + 1.f, layer::fill_constant<float>(main, 6));
}
template <kind K>
constexpr auto net = lamina::program([](lamina::block& main) {
  auto x = layer::data<"x", float, 2>(main);
  return cost_of<K>(main, x, layer::data<"y", float, 1>(main));
});
/// The same as a loop of its own.
template <kind K>
constexpr auto loop_net = lamina::program([](lamina::block& main) {
  auto more = layer::fill_constant<bool>(main, true);
  auto last = layer::fill_constant<float>(main, 0);
  layer::while_loop(more, [&](lamina::block& loop) {
    auto [x, y] =
        layer::read_minibatch<"train", lamina::field<float, 2>, lamina::field<float>>(loop, more);
    auto cost = cost_of<K>(loop, x, y);
    optimizer::sgd{.learning_rate = 0.01f}.minimize(cost);
    last = cost;
  });
  return last;
});

/// The parameters, and the costs and metrics of each mini-batch and of the pass.
std::vector<double> outcome(const auto& program, int size, lamina::train_options options) {
  std::vector<double> told;
  const bool all = options.accumulate == 1;
  options.on_event = [&](const lamina::event& e) {
    if (!e.is_end_iteration() && !e.is_end_pass()) return;
    if (all) told.push_back(e.cost);
    for (const auto& m : e.metrics)
      if (all || (e.is_end_pass() && m.name == "dice")) told.push_back(m.value);
  };
  lamina::model m{program};
  optimizer::sgd{.learning_rate = 0.01f}.train(m, some(13) | reader::batch(size), options);
  const auto w = m.template parameter<"w">();
  for (const int i : {0, 1}) told.push_back(w(i, 0));
  return told;
}
void check_same(const std::vector<double>& found, const std::vector<double>& expected) {
  REQUIRE(found.size() == expected.size());
  for (std::size_t i = 0; i < found.size(); ++i) {
    INFO("number " << i);
    CHECK(found[i] == Approx(expected[i]).epsilon(2e-6));
  }
}
template <kind K>
void check_ways() {
  const std::vector<double> one = outcome(net<K>, 13, {.passes = 1});
  for (const int threads : {2, 3}) {
    INFO(threads << " threads");
    check_same(outcome(net<K>, 13, {.passes = 1, .threads = threads}), one);
  }
  const std::vector<double> joined = outcome(net<K>, 5, {.passes = 1, .accumulate = 3});
  CHECK(joined[joined.size() - 1] == Approx(one[one.size() - 1]).epsilon(2e-6));
  CHECK(joined[joined.size() - 2] == Approx(one[one.size() - 2]).epsilon(2e-6));
  std::mutex mutex;
  test::in_ranks(2, [&](test::thread_group& w) {
    const auto found = outcome(net<K>, 13, {.passes = 1, .world = &w});
    const std::lock_guard lock(mutex);
    check_same(found, one);
  });
}

}  // namespace

TEST_CASE("constants beside sums count once in costs and metrics of parts", "[threads]") {
  check_ways<kind::shifted_sum>();
  check_ways<kind::smoothed>();
}

TEST_CASE("a smoothed metric over a pass is that of all mini-batches") {
  lamina::model m{net<kind::shifted_sum>};
  lamina::evaluator e{m};
  const double one = e.test(some(13) | reader::batch(13)).metric("dice");
  for (const int size : {1, 4})
    CHECK(e.test(some(13) | reader::batch(size)).metric("dice") == Approx(one).epsilon(1e-6));
}

TEST_CASE("a cost or metric that cannot be computed in parts is refused at the start",
          "[threads]") {
  using Catch::Contains;
  outcome(net<kind::bent>, 13, {.passes = 1});
  const auto why = Contains(
      "The operator 'tanh', which makes 'tanh_0.tmp_0', is not linear in a "
      "sum or mean over rows: move the sum or mean behind it, to the end; or "
      "train with one thread and one process, without accumulate");
  CHECK_THROWS_WITH(outcome(net<kind::bent>, 13, {.passes = 0, .threads = 2}),
                    Contains("train: expected 1 thread or process for a cost that cannot be "
                             "computed in parts, found 2. ") &&
                        why);
  CHECK_THROWS_WITH(outcome(net<kind::bent>, 5, {.passes = 0, .accumulate = 2}),
                    Contains("train: expected accumulate to be 1 for a cost that cannot be "
                             "computed in parts, found 2. ") &&
                        why);
  std::mutex mutex;
  int refused = 0;
  test::in_ranks(2, [&](test::thread_group& w) {
    try {
      outcome(net<kind::bent>, 13, {.passes = 0, .world = &w});
    } catch (const lamina::error& e) {
      const std::lock_guard lock(mutex);
      refused +=
          std::string(e.what()).find("cost that cannot be computed in parts") != std::string::npos;
    }
  });
  CHECK(refused == 2);
  outcome(net<kind::metric>, 5, {.passes = 1, .accumulate = 2});
  CHECK_THROWS_WITH(outcome(net<kind::metric>, 13, {.passes = 0, .threads = 2}),
                    Contains("train: expected 1 thread or process for a metric that cannot be "
                             "computed in parts, found 2 for 'rmse'. The operator 'sqrt'"));
}

namespace {

template <kind K>
void check_loop() {
  const auto batches = some(13) | reader::batch(5);
  const auto numbers = [&](const auto& program, lamina::world* w) {
    lamina::model m{program};
    const lamina::run_summary r = lamina::run(m, batches, {.world = w});
    const auto a = m.get(0);
    return std::vector<double>{r.cost, a.data()[0], a.data()[1]};
  };
  const auto one = numbers(loop_net<K>, nullptr);
  std::mutex mutex;
  test::in_ranks(2, [&](test::thread_group& w) {
    const auto found = numbers(lamina::transform::grad_all_reduce(loop_net<K>), &w);
    const std::lock_guard lock(mutex);
    check_same(found, one);
  });
}

}  // namespace

TEST_CASE("constants beside sums count once in a loop of several ranks") {
  check_loop<kind::shifted_sum>();
  check_loop<kind::weighted>();
  check_loop<kind::guarded>();  // the denominator of one rank alone is below 6
}
