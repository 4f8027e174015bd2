// SPDX-License-Identifier: Apache-2.0
// Random choices: frequencies of many draws, and probabilities of 0 and 1.
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <tuple>
#include <vector>

#include <catch2/catch.hpp>

#include <lamina/layers/layers.hpp>
#include <lamina/layers/random_choice.hpp>
#include <lamina/model/evaluator.hpp>
#include <lamina/model/gradient_machine.hpp>

namespace layer = lamina::layer;
using lamina::block;
using lamina::program;

namespace {

constexpr auto drawn = program([](block& main) {
  auto p = layer::data<"p", float, 3>(main);
  auto coins = layer::bernoulli(p, {.name = "coins"});
  auto noise = layer::gumbel_noise(p, {.name = "noise"});
  auto soft = layer::gumbel_softmax(p, {.temperature = 0.1f, .name = "soft"});
  return std::tuple{layer::mean(soft * soft), coins, noise, soft};
});

}  // namespace

TEST_CASE("random_choice: frequencies") {
  constexpr std::size_t rows = 20000;
  const lamina::model m{drawn};
  lamina::evaluator e{m, 3};
  std::vector<float> p(3 * rows);
  for (std::size_t r = 0; r < rows; ++r) p[3 * r] = 0, p[3 * r + 1] = 0.3f, p[3 * r + 2] = 1;
  e.forward(lamina::feed<"p">(p));
  const auto coins = e.activation<"coins">();
  const auto noise = e.activation<"noise">();
  const auto soft = e.activation<"soft">();
  double heads[3] = {}, first = 0, mean = 0;
  for (std::size_t r = 0; r < rows; ++r) {
    double sum = 0;
    for (std::size_t i = 0; i < 3; ++i) {
      heads[i] += coins(r, i);
      mean += noise(r, i);
      sum += soft(r, i);
      REQUIRE(std::isfinite(noise(r, i)));
    }
    CHECK(sum == Approx(1));
    first += soft(r, 2) > soft(r, 0) && soft(r, 2) > soft(r, 1);
  }
  CHECK(heads[0] == 0);
  CHECK(heads[1] / rows == Approx(0.3).margin(0.02));
  CHECK(heads[2] == rows);
  CHECK(mean / (3 * rows) == Approx(0.5772).margin(0.02));  // Euler's constant
  const double share = std::exp(1.0) / (1 + std::exp(static_cast<double>(0.3f)) + std::exp(1.0));
  CHECK(first / rows == Approx(share).margin(0.02));
}
