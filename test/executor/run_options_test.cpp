// SPDX-License-Identifier: Apache-2.0
// Options of a run: where numbers stop being finite.

#include <cmath>
#include <limits>
#include <string>
#include <tuple>
#include <vector>

#include "executor/shared_executor.hpp"
#include <catch2/catch.hpp>

#include <lamina/executor/run_options.hpp>
#include <lamina/lamina.hpp>
#include <lamina/layers/layers.hpp>
#include <lamina/transform/append_backward.hpp>

namespace layer = lamina::layer;
using Catch::Contains;
using lamina::block;
using lamina::tensor;

namespace {

constexpr auto classifier = lamina::program([](block& main) {
  auto image = layer::data<"image", float, 4>(main);
  auto label = layer::data<"label", std::int64_t>(main);
  auto logits = layer::fc<3>(image, {.act = lamina::activation::relu, .name = "out"});
  return layer::mean(layer::softmax_with_cross_entropy(logits, label));
});

tensor images(std::size_t rows = 2) {
  std::vector<float> values;
  for (std::size_t i = 0; i < rows * 4; ++i) values.push_back(0.1f * static_cast<float>(i));
  return tensor({rows, 4}, values);
}

tensor labels(std::vector<std::int64_t> values) { return tensor({values.size(), 1}, values); }

struct session {
  lamina::executor executor;
  lamina::scope scope;
  session() { executor.run_startup(classifier.view(), scope, 7); }
  float cost(const lamina::feed_map& feed, const lamina::run_options& options = {}) {
    return executor.run(classifier.view(), scope, feed, options).at(0).as<float>().flat(0);
  }
};

}  // namespace

TEST_CASE("check_nan names the operator and the variable where numbers stop being finite") {
  session s;
  s.scope.var("out.b_0") =
      tensor({3}, std::vector<float>{0, std::numeric_limits<float>::infinity(), 0});
  const lamina::feed_map feed{{"image", images()}, {"label", labels({0, 1})}};
  CHECK_NOTHROW(s.cost(feed));
  lamina::run_options options;
  options.check_nan = true;
  CHECK_THROWS_WITH(s.cost(feed, options),
                    Contains("layer out:") && Contains("'out.tmp_1'") && Contains("inf"));
}

namespace {

constexpr auto words = lamina::program([](lamina::block& main) {
  auto ids = layer::sequence<"ids", std::int64_t>(main);
  auto embedded = layer::embedding<10, 4>(ids, {.param = {.name = "table"}});
  auto pooled = layer::sequence_pool(embedded, {.type = lamina::pooling_type::sum});
  return std::tuple{layer::mean(pooled), embedded, pooled};
});

/// One step of training, which the executor runs for each mini-batch.
constexpr auto step = lamina::program([](lamina::block& main) {
  auto x = layer::data<"x", float, 2>(main);
  auto y = layer::data<"y", float>(main);
  auto steps = layer::create_global_var<float>(main, 0, {.name = "steps"});
  auto guess = layer::fc<1>(x, {.name = "line"});
  auto cost = layer::mean(layer::square_error_cost(guess, y));
  lamina::optimizer::momentum{.learning_rate = 0.02f, .momentum = 0.5f}.minimize(cost);
  layer::store(steps + 1.0f, steps);
  return cost;
});

constexpr auto start = lamina::program([](lamina::block& main) {
  layer::store(layer::uniform_random<2, 1>(main, {.min = 3, .max = 4}),
               layer::create_parameter<float, 2, 1>(main, {.name = "line.w_0"}));
  layer::store(layer::fill_constant<float, 1>(main, -1),
               layer::create_parameter<float, 1>(main, {.name = "line.b_0"}));
});

}  // namespace

TEST_CASE("variables are fetched by handle and by name, with their sequences") {
  lamina::executor exe{lamina::place::cpu()};
  exe.run_startup(words, 3);
  const auto [cost, embedded, pooled] = lamina::returned_variables(words);
  static_assert(std::is_same_v<decltype(pooled)::rows_type, lamina::batch>);
  static_assert(decltype(embedded)::size == 4);
  const lamina::feed_map feed{{"ids", lamina::sequences<std::int64_t>({{3, 1}, {}, {4, 4, 9}})}};

  const auto [table, sums, rows] = exe.run(words, feed, {"table", pooled, embedded});
  CHECK(table.shape() == lamina::tensor_shape{10, 4});
  CHECK(sums.shape() == lamina::tensor_shape{3, 4});
  CHECK(sums.lod().empty());
  CHECK(rows.shape() == lamina::tensor_shape{5, 4});
  CHECK(rows.recursive_sequence_lengths() == std::vector<lamina::lod::level>{{2, 0, 3}});
  CHECK(rows.lod().offsets(0) == lamina::lod::level{0, 2, 2, 5});
  const auto& w = table.as<float>();
  for (std::size_t c = 0; c < 4; ++c) {
    CHECK(rows.as<float>()(4, c) == w(9, c));
    CHECK(sums.as<float>()(1, c) == 0);
    CHECK(sums.as<float>()(2, c) == Approx(2 * w(4, c) + w(9, c)));
  }

  // What the record function returned, in its order.
  const auto [mean, all, again] = exe.run(words, feed);
  CHECK(all.recursive_sequence_lengths() == rows.recursive_sequence_lengths());
  CHECK(again.as<float>() == sums.as<float>());
  const auto [one] = exe.run(words, feed, {cost});
  CHECK(one.as<float>() == mean.as<float>());
}

TEST_CASE("a single variable that is returned is one handle") {
  const auto cost = lamina::returned_variables(step);
  static_assert(decltype(cost)::rank == 1);
  const lamina::fetched by_handle = cost;
  CHECK(by_handle.name() == lamina::variable_name(step.view(), step.desc.cost));
}

TEST_CASE("a startup program of one's own, steps, and what stays between them") {
  lamina::executor exe{lamina::place::cpu()};
  exe.run_startup(step);
  exe.run(start);
  const auto begin = exe.variables().get("line.w_0").as<float>();
  CHECK(begin(0, 0) >= 3);
  CHECK(begin(1, 0) <= 4);
  CHECK(exe.variables().get("line.b_0").as<float>()(0) == -1);

  // y = 2 x0 - x1 + 1
  std::vector<float> x, y;
  for (int i = 0; i < 8; ++i) {
    const float a = static_cast<float>(i % 3) - 1, b = static_cast<float>(i % 5) / 2 - 1;
    x.push_back(a), x.push_back(b), y.push_back(2 * a - b + 1);
  }
  const lamina::feed_map feed{{"x", tensor({8, 2}, x)}, {"y", tensor({8, 1}, y)}};
  const auto cost = lamina::returned_variables(step);
  float first = 0, last = 0;
  for (int i = 0; i < 400; ++i) {
    const auto [now, gradient] = exe.run(step, feed, {cost, "line.w_0@GRAD"});
    last = now.as<float>()(0);
    if (i > 0) continue;
    first = last;
    CHECK(std::abs(gradient.as<float>()(0, 0)) > 1e-2f);
  }
  CHECK(first > 1);
  CHECK(last < 1e-4f);
  CHECK(exe.variables().get("line.w_0").as<float>()(0, 0) == Approx(2).margin(0.02));
  CHECK(exe.variables().get("steps").as<float>()(0) == 400);
  exe.variables().var("steps") = tensor({1}, std::vector<float>{7});
  exe.run(step, feed);
  CHECK(exe.variables().get("steps").as<float>()(0) == 8);

  // A test program has the same variables and changes none.
  const auto [tested] = exe.run(lamina::transform::clone_for_test(step), feed, {cost});
  CHECK(tested.as<float>()(0) < 1e-4f);
  CHECK(exe.variables().get("steps").as<float>()(0) == 8);
}

TEST_CASE("an executor runs on the CPU, and knows no other names") {
  const lamina::place device{lamina::place_kind::cuda, 0};
  CHECK_THROWS_WITH(lamina::executor{device}, Contains("expected the CPU as place"));
  lamina::executor exe;
  exe.run_startup(words);
  const lamina::feed_map feed{{"ids", lamina::sequences<std::int64_t>({{3}})}};
  CHECK_THROWS_WITH(exe.run(words, feed, {"tabel"}), Contains("'tabel'"));
}
