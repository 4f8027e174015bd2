// SPDX-License-Identifier: Apache-2.0
// A startup program of one's own fills the parameters that it names, as the interpreter does.
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "executor/shared_executor.hpp"
#include "model/samples.hpp"

#include <lamina/layers/layers.hpp>
#include <lamina/model/run_startup.hpp>
#include <lamina/optimizer/momentum.hpp>
#include <lamina/reader/batch.hpp>
#include <lamina/train/train.hpp>

namespace layer = lamina::layer;

namespace {

constexpr auto net = lamina::program([](lamina::block& main) {
  auto x = layer::data<"x", float, 5>(main);
  auto h = layer::fc<19>(x, {.name = "hidden"});
  return layer::mean(layer::square(layer::fc<3>(h, {.name = "output"})));
});
constexpr auto teacher = lamina::program([](lamina::block& main) {
  auto x = layer::data<"x", float, 5>(main);
  return layer::fc<19>(x, {.param = {.name = "teacher.w"}, .bias_param = {.name = "teacher.b"}});
});

constexpr auto start = lamina::program([](lamina::block& main) {
  auto w = layer::create_parameter<float, 5, 19>(main, {.name = "hidden.w_0"});
  auto b = layer::create_parameter<float, 19>(main, {.name = "hidden.b_0"});
  auto out = layer::create_parameter<float, 19, 3>(main, {.name = "output.w_0"});
  auto from = layer::create_parameter<float, 5, 19>(main, {.name = "teacher.w"});
  // Half of the teacher's, and numbers of a generator.
  layer::store(0.5f * from + layer::uniform_random<5, 19>(main, {.min = 1, .max = 2}), w);
  layer::store(layer::fill_constant<float, 19>(main, 0.25), b);
  layer::store(layer::gaussian_random<19, 3>(main, {.mean = 3, .std = 0.5f, .seed = 7}), out);
  // What was stored is read, and stored again: w + w^T-like products of the new values.
  layer::store(
      w + layer::matmul(layer::matmul(w, out), layer::fill_constant<float, 3, 19>(main, 0.125f)),
      w);
  layer::store(b * 3.0f, b);
});

}  // namespace

TEST_CASE("a startup program sets what it names, once and in its order") {
  lamina::model m{net};
  const lamina::model before{net};
  const lamina::model taught{teacher, 3};
  lamina::run_startup(start, m, 11, taught);

  // The interpreter, in double, from the same values.
  lamina::basic_executor<double> executor;
  lamina::scope scope;
  for (const auto& [name, value] : {std::pair{"hidden.w_0", before.parameter<"hidden.w_0">()},
                                    std::pair{"hidden.b_0", before.parameter<"hidden.b_0">()},
                                    std::pair{"output.w_0", before.parameter<"output.w_0">()},
                                    std::pair{"teacher.w", taught.parameter<"teacher.w">()}})
    scope.var(name) = lamina::tensor(value);
  lamina::run_options options;
  options.seed = 11;
  executor.run(start.view(), scope, {}, options);

  for (int i = 0; i < m.parameter_arrays(); ++i) {
    const std::string name = m.describe(i).name;
    INFO(name);
    const auto found = m.get(i), old = before.get(i);
    if (name == "output.b_0") {
      CHECK(found == old);
      continue;
    }
    CHECK(found != old);
    const auto expected = scope.get(name).cast<double>();
    for (std::size_t k = 0; k < found.size(); ++k)
      REQUIRE(static_cast<double>(found.flat(k)) == Approx(expected.flat(k)).epsilon(1e-5));
  }
  CHECK(m.parameter<"hidden.b_0">()(4) == 0.75f);
  double mean = 0;
  const auto drawn = m.parameter<"output.w_0">();
  for (std::size_t k = 0; k < drawn.size(); ++k) mean += static_cast<double>(drawn.flat(k));
  CHECK(mean / static_cast<double>(drawn.size()) == Approx(3).margin(0.3));
  CHECK(taught.parameter<"teacher.w">() == lamina::model{teacher, 3}.parameter<"teacher.w">());
}

TEST_CASE("the seed draws the numbers, and training begins anew") {
  const lamina::model taught{teacher, 3};
  const auto weights = [&](std::uint64_t seed) {
    lamina::model m{net};
    lamina::run_startup(start, m, seed, taught);
    return m.parameter<"hidden.w_0">();
  };
  CHECK(weights(1) == weights(1));
  CHECK(weights(1) != weights(2));

  struct only_x {
    std::array<float, 5> x;
  };
  const std::vector<only_x> samples(4, {{1, -2, 3, 0.5f, 1}});
  const auto batches = samples | lamina::reader::batch(4);
  lamina::optimizer::momentum momentum{.learning_rate = 1e-3f};
  lamina::model fresh{net}, again{net};
  momentum.train(again, batches, {.passes = 3});
  lamina::run_startup(start, fresh, 5, taught);
  lamina::run_startup(start, again, 5, taught);
  again.set_parameter<"output.b_0">(fresh.parameter<"output.b_0">());
  momentum.train(fresh, batches, {.passes = 2});
  momentum.train(again, batches, {.passes = 2});
  for (int i = 0; i < fresh.parameter_arrays(); ++i) CHECK(fresh.get(i) == again.get(i));
}
