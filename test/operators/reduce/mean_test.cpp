// SPDX-License-Identifier: Apache-2.0
// mean: of no rows.
#include <tuple>

#include "laws/engine_law.hpp"
#include <catch2/catch.hpp>

#include <lamina/layers/layers.hpp>

namespace layer = lamina::layer;
using lamina::block;
using lamina::program;
using lamina::law::check_engine;

namespace {

constexpr auto means = program([](block& main) {
  auto x = layer::data<"x", float, 2>(main);
  auto a = layer::mean(x);
  auto b = layer::reduce_mean<0>(x);
  auto c = layer::reduce_mean(x);
  return std::tuple{layer::mean(x * x) + a + layer::mean(b) + c, a, b, c};
});

}  // namespace

TEST_CASE("the mean of no rows is 0") {
  check_engine(means, {.rows_are_alone = false, .batches = {0, 2}});
  using run_type = lamina::law::engine_run<std::remove_const_t<decltype(means)>>;
  run_type run({});
  run.draw(0);
  run.run_engine(0, 0, 1);
  for (const int output : {0, 1, 2, 3})
    for (const double m : run.on_engine(run_type::desc.outputs[output])) CHECK(m == 0);
}
