// SPDX-License-Identifier: Apache-2.0
// Random numbers inside a main program on the compiled engine: those of the executor.
#include <tuple>
#include <vector>

#include "laws/engine_law.hpp"
#include <catch2/catch.hpp>
#include <interop/held_values.hpp>

#include <lamina/layers/layers.hpp>
#include <lamina/operators/control/array/layer.hpp>
#include <lamina/operators/control/block/layer_while.hpp>

namespace layer = lamina::layer;
using lamina::block;
using lamina::program;
using lamina::law::check_engine;

namespace {

// As the layers make them, cut at two deviations: of a program that was read.
constexpr auto truncated(block& main) {
  return layer::detail::random_numbers<lamina::truncated_gaussian_random,
                                       lamina::variable<float, lamina::once, 3, 4>>(
      *main.builder, "noise", {}, -1, 0, 2, 17);
}

constexpr auto held = program([](block& main) {
  auto y = interop::three_values(main);
  auto x = layer::data<"x", float, 3>(main);
  return std::tuple{layer::mean(layer::square(x)), y, layer::elementwise_mul(x, y)};
});

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

TEST_CASE("values that a program holds are those of the executor") { check_engine(held); }

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
