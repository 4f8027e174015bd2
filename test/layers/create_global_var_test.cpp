// SPDX-License-Identifier: Apache-2.0
// Variables that keep their values: the host reads and sets them, files hold them.
#include <array>
#include <string>
#include <vector>

#include "io/temporary_folder.hpp"
#include <catch2/catch.hpp>

#include <lamina/lamina.hpp>

namespace layer = lamina::layer;

namespace {

constexpr auto net = lamina::program([](lamina::block& main) {
  auto more = layer::fill_constant<bool>(main, true);
  auto steps = layer::create_global_var<float>(main, 0);
  auto rate = layer::create_global_var<float>(main, 0, {.name = "rate"});
  auto same = layer::create_global_var<float>(main, 0, {.name = "rate"});
  layer::create_global_var<float, 2, 3>(main, -1.5, {.name = "table"});
  auto last = layer::fill_constant<float>(main, 0);
  layer::while_loop(more, [&](lamina::block& loop) {
    auto x = layer::read_minibatch<"train", lamina::field<float, 2>>(loop, more);
    auto cost = layer::mean(layer::square(layer::fc<1>(x, {.bias = false, .name = "out"})));
    lamina::optimizer::sgd{.learning_rate = same}.minimize(cost);
    layer::store(steps + 1.0f, steps);
    last = cost + 0.0f * rate;
  });
  return last;
});

constexpr auto in_double = lamina::program([](lamina::block& main) {
  auto x = layer::data<"x", double, 2>(main);
  auto sum = layer::create_global_var<double>(main, 0.1, {.name = "sum"});
  layer::store(sum + layer::reduce_sum(x), sum);
  return layer::mean(layer::fc<1>(x));
});

struct point {
  std::array<float, 2> x;
};
struct point_in_double {
  std::array<double, 2> x;
};

const std::vector<point> points(6, {{1, 2}});

}  // namespace

TEST_CASE("they begin with their value and have the names of Fluid's counters") {
  const lamina::model m{net};
  CHECK(m.parameter_arrays() == 4);
  CHECK(m.describe(0).name == "global_var_0.w_0");
  CHECK(m.describe(1).name == "rate");
  CHECK(m.parameter<"table">() ==
        lamina::array<float>{{-1.5f, -1.5f, -1.5f}, {-1.5f, -1.5f, -1.5f}});
}

TEST_CASE("the host sets a learning rate between two runs") {
  lamina::model m{net};
  const auto first = m.parameter<"out.w_0">();
  const auto batches = points | lamina::reader::batch(2);
  lamina::run(m, batches);
  CHECK(m.parameter<"out.w_0">() == first);  // the rate is 0
  CHECK(m.parameter<"global_var_0.w_0">()(0) == 3);
  m.set_parameter<"rate">({0.01f});
  lamina::run(m, batches);
  CHECK(m.parameter<"out.w_0">() != first);
  CHECK(m.parameter<"global_var_0.w_0">()(0) == 6);
  CHECK(m.parameter<"rate">()(0) == 0.01f);

  const temporary_folder folder;
  const std::string path = folder.path() + "/model";
  m.save(path);
  lamina::model read{net};
  read.load(path);
  CHECK(read.parameter<"global_var_0.w_0">()(0) == 6);
  CHECK(read.parameter<"rate">()(0) == 0.01f);
}

TEST_CASE("in double they keep the digits of a double") {
  lamina::model m{in_double};
  CHECK(m.parameter<"sum">()(0) == 0.1);
  lamina::optimizer::sgd sgd{.learning_rate = 0.001f};
  lamina::trainer t{m, sgd};
  const std::vector<point_in_double> batch{{{1e-12, 1}}};
  t.step(batch);
  t.step(batch);
  CHECK(m.parameter<"sum">()(0) == 0.1 + (1 + 1e-12) + (1 + 1e-12));
}
