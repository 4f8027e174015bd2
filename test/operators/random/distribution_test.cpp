// SPDX-License-Identifier: Apache-2.0
// Random numbers of a program: distributions, seeds, iterations, engine against executor.
#include <algorithm>
#include <cmath>
#include <limits>
#include <tuple>
#include <vector>

#include "executor/run_program.hpp"
#include "laws/engine_law.hpp"
#include <catch2/catch.hpp>
#include <laws/compared_operators.hpp>
#include <operators/fill/held_values.hpp>

#include <lamina/executor/matrix_product.hpp>
#include <lamina/layers/layers.hpp>
#include <lamina/operators/control/array/layer.hpp>
#include <lamina/operators/control/block/layer_while.hpp>
#include <lamina/transform/append_backward.hpp>
#include <lamina/transform/clone_for_test.hpp>

namespace layer = lamina::layer;
using executed::values_of;
using lamina::block;
using lamina::program;
using lamina::tensor;
using lamina::law::check_engine;

namespace {

// As the layers make them, cut at two deviations: of a program that was read.
constexpr auto truncated(block& main) {
  return layer::detail::random_numbers<lamina::operators::truncated_gaussian_random,
                                       lamina::variable<float, lamina::once, 3, 4>>(
      *main.builder, "noise", {}, -1, 0, 2, 17);
}

constexpr auto noisy = program([](block& main) {
  auto x = layer::data<"x", float, 5>(main);
  auto a = layer::uniform_random<3, 4>(main, {.min = -2, .max = 3});
  auto b = layer::gaussian_random<3, 4>(main, {.mean = 1, .std = 0.5f});
  auto c = truncated(main);
  auto d = layer::uniform_random<3, 4>(main, {.min = -2, .max = 3});
  return std::tuple{layer::mean(layer::fc<3>(x)) + layer::mean(a), a, b, c, d};
});

/// Noise for each row, in each of N iterations; the gradient reads that of its own.
template <int N>
constexpr auto noisy_loop = program([](block& main) {
  auto x = layer::data<"x", float, 3>(main);
  auto sum = layer::fc<3>(x);
  auto drawn = layer::create_array<lamina::variable<float, lamina::once, 2>>(main);
  auto i = layer::fill_constant<std::int64_t>(main, 0);
  auto end = layer::fill_constant<std::int64_t>(main, N);
  auto going = layer::less_than(i, end);
  layer::while_loop(going, [&](block& body) {
    auto noise = layer::gaussian_random_batch_size_like<3>(x);
    auto factor = layer::uniform_random_batch_size_like<3>(x, {.min = 0.5f, .max = 1});
    auto own = layer::uniform_random<2>(body, {.seed = 5});
    layer::array_write(own, i, drawn);
    sum = layer::tanh(sum * factor + noise) + sum;
    layer::increment(i);
    layer::less_than(i, end, going);
  });
  auto first = layer::fill_constant<std::int64_t>(main, 0);
  auto last = layer::fill_constant<std::int64_t>(main, N - 1);
  return std::tuple{layer::mean(sum), sum, layer::array_read(drawn, first),
                    layer::array_read(drawn, last)};
});

}  // namespace

TEST_CASE("random numbers of a main program are those of the executor") { check_engine(noisy); }

TEST_CASE("random numbers of a main program follow the seed of the run, or their own") {
  using run_type = lamina::law::engine_run<std::remove_const_t<decltype(noisy)>>;
  run_type run({});
  run.draw(2);
  const auto drawn = [&](int output, std::uint64_t seed) {
    run.run_engine(0, 2, seed);
    return run.on_engine(run_type::desc.outputs[output]);
  };
  for (const int output : {1, 2}) {
    CHECK(drawn(output, 3) == drawn(output, 3));
    CHECK(drawn(output, 3) != drawn(output, 4));
  }
  CHECK(drawn(3, 3) == drawn(3, 4));
  CHECK(drawn(1, 3) != drawn(4, 3));  // each operator has a stream of its own
  for (const double u : drawn(1, 3)) CHECK((u >= -2 && u < 3));
  for (const double g : drawn(3, 3)) CHECK((g >= -4 && g <= 4));
}

TEST_CASE("each iteration of a loop draws numbers of its own, those of the executor") {
  check_engine(noisy_loop<3>, {.rows_are_alone = false});
  using run_type = lamina::law::engine_run<std::remove_const_t<decltype(noisy_loop<3>)>>;
  run_type run({});
  run.draw(2);
  const auto value = [&](int output, std::uint64_t seed) {
    run.run_engine(0, 2, seed);
    return run.on_engine(run_type::desc.outputs[output]);
  };
  CHECK(value(1, 3) == value(1, 3));
  CHECK(value(1, 3) != value(1, 4));
  CHECK(value(2, 3) == value(2, 4));  // a seed of its own
  CHECK(value(2, 3) != value(3, 3));  // iteration 0 and 2
}

TEST_CASE("normal numbers have their mean and deviation; truncated ones stay inside") {
  constexpr auto p = lamina::program([](block& main) {
    auto x = layer::data<"x", float, 50>(main);
    auto a = layer::fc<40>(x, {.param = {.name = "a", .initializer = lamina::init::normal(1, 2)}});
    auto b = layer::fc<40>(
        x, {.param = {.name = "b", .initializer = lamina::init::truncated_normal(0, 0.5f)}});
    return layer::mean(a + b);
  });
  lamina::executor executor;
  lamina::scope scope;
  executor.run_startup(p.view(), scope, 3);
  double sum = 0, square = 0;
  for (const float v : scope.get("a").as<float>()) sum += v, square += v * v;
  CHECK(sum / 2000 == Approx(1).margin(0.15));
  CHECK(square / 2000 - sum * sum / 4e6 == Approx(4).margin(0.4));
  for (const float v : scope.get("b").as<float>()) CHECK(std::abs(v) <= 1);
}

TEST_CASE("random numbers have the mean, the deviation and the bounds of their distributions") {
  constexpr auto p = lamina::program([](block& main) {
    auto x = layer::data<"x", float, 4000>(main);
    return std::tuple{layer::uniform_random<40, 100>(main, {.min = -2, .max = 3}),
                      layer::uniform_random_batch_size_like<4000>(x, {.min = -2, .max = 3}),
                      layer::gaussian_random<40, 100>(main, {.mean = 1, .std = 0.5f}),
                      layer::gaussian_random_batch_size_like<4000>(x, {.mean = 1, .std = 0.5f}),
                      layer::detail::random_numbers<lamina::operators::truncated_gaussian_random,
                                                    lamina::variable<float, lamina::once, 4000>>(
                          *main.builder, "noise", {}, -1, 1, 0.5, 17)};
  });
  // Mean, deviation, smallest and largest; a normal one cut at two deviations has 0.8796 of its
  // own.
  const double inf = std::numeric_limits<double>::infinity(), flat = 5 / std::sqrt(12.0);
  const double expected[5][4] = {{0.5, flat, -2, 3},
                                 {0.5, flat, -2, 3},
                                 {1, 0.5, -inf, inf},
                                 {1, 0.5, -inf, inf},
                                 {1, 0.5 * 0.8796, 0, 2}};
  lamina::executor executor;
  lamina::scope scope;
  lamina::run_options options;
  options.seed = 11;
  const auto found = executor.run(
      p.view(), scope, {{"x", tensor::zeros(lamina::dtype::float32, {1, 4000})}}, options);
  for (std::size_t i = 0; i < found.size(); ++i) {
    const std::vector<double> all = values_of(found[i]);
    REQUIRE(all.size() == 4000);
    double mean = 0, square = 0;
    for (const double v : all) mean += v / 4000;
    for (const double v : all) square += (v - mean) * (v - mean) / 4000;
    const auto& [m, deviation, low, high] = expected[i];
    INFO("result " << i);
    CHECK(mean == Approx(m).margin(4 * deviation / std::sqrt(4000.0)));
    CHECK(std::sqrt(square) == Approx(deviation).epsilon(0.05));
    CHECK(*std::min_element(all.begin(), all.end()) >= low);
    CHECK(*std::max_element(all.begin(), all.end()) <= high);
  }
  laws::note_compared("executor", p.view(), true);
}
