// SPDX-License-Identifier: Apache-2.0
// Dropout on the compiled engine: the executor's masks, whatever the shards; its statistics.
#include <cmath>
#include <tuple>

#include "laws/engine_law.hpp"
#include <catch2/catch.hpp>

#include <lamina/layers/layers.hpp>

namespace layer = lamina::layer;
using lamina::block;
using lamina::program;
using lamina::law::check_engine;
using lamina::law::engine_law_options;
using lamina::law::engine_run;
using layer::dropout_implementation;

namespace {

template <int W>
constexpr auto dropped = program([](block& main) {
  auto x = layer::data<"x", float, W>(main);
  auto a = layer::dropout(x, 0.3f);
  auto b =
      layer::dropout(x * 2.0, 0.6f, {.implementation = dropout_implementation::upscale_in_train});
  auto c = layer::dropout(x, 0.5f, {.seed = 11});
  auto d = layer::dropout(x, 0.4f, {.is_test = true});
  auto e = layer::dropout(
      x, 0.4f, {.is_test = true, .implementation = dropout_implementation::upscale_in_train});
  auto cost = layer::mean(a * a) + layer::mean(b * b * b) + layer::mean(c * c) +
              layer::mean(d * d) + layer::mean(e * e);
  return std::tuple{cost, a, b, c, d, e};
});

constexpr auto wide = program([](block& main) {
  auto x = layer::data<"x", float, 250>(main);
  auto a = layer::dropout(x, 0.3f);
  auto b = layer::dropout(x, 0.75f, {.implementation = dropout_implementation::upscale_in_train});
  return std::tuple{layer::mean(a), a, b};
});

}  // namespace

// With `rows_are_alone` the law runs single rows with their place in the whole batch: a mask must
// not depend on the shard.
TEST_CASE("dropout on the engine is that of the executor, in every shard") {
  check_engine(dropped<1>);
  check_engine(dropped<5>);
  check_engine(dropped<16>);
  check_engine(dropped<33>);
}

TEST_CASE("dropout keeps as many as it should and preserves the mean") {
  using run_type = engine_run<std::remove_const_t<decltype(wide)>>;
  engine_law_options o;
  o.low = o.high = 1;
  run_type run(o);
  const int rows = 400;
  run.draw(rows);
  run.run_engine(0, rows, 1, 0);
  const double n = 250.0 * rows;
  const std::vector<double> a = run.on_engine(run_type::desc.outputs[1]);
  const std::vector<double> b = run.on_engine(run_type::desc.outputs[2]);
  const auto check = [n](const std::vector<double>& v, double keep, double value) {
    double kept = 0, sum = 0;
    for (double x : v) {
      kept += x != 0 ? 1 : 0;
      sum += x;
      REQUIRE((x == 0 || x == Approx(value)));
    }
    // Five standard deviations of the binomial distribution.
    const double deviation = std::sqrt(keep * (1 - keep) / n);
    CHECK(std::abs(kept / n - keep) < 5 * deviation);
    CHECK(std::abs(sum / n - keep * value) < 5 * deviation * value);
  };
  check(a, 0.7, 1);
  check(b, 0.25, 4);

  // Neither columns nor rows go together.
  for (int step : {1, 250}) {
    double both = 0;
    const std::size_t pairs = a.size() - static_cast<std::size_t>(step);
    for (std::size_t i = 0; i < pairs; ++i)
      both += a[i] != 0 && a[i + static_cast<std::size_t>(step)] != 0 ? 1 : 0;
    CHECK(std::abs(both / static_cast<double>(pairs) - 0.49) < 0.01);
  }

  run.run_engine(0, rows, 1, 1);
  CHECK(run.on_engine(run_type::desc.outputs[1]) != a);
  run.run_engine(0, rows, 1, 0);
  CHECK(run.on_engine(run_type::desc.outputs[1]) == a);
}
