// SPDX-License-Identifier: Apache-2.0
// rms_norm: values by hand, the engine, and a parameter without a block.
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <tuple>
#include <vector>

#include "laws/engine_law.hpp"
#include <catch2/catch.hpp>

#include <lamina/layers/layers.hpp>
#include <lamina/layers/rms_norm.hpp>
#include <lamina/model/evaluator.hpp>
#include <lamina/model/gradient_machine.hpp>

namespace layer = lamina::layer;
using lamina::block;
using lamina::program;

namespace {

constexpr auto scaled(auto x) {  // a layer of a user with its own parameter
  return x * layer::create_parameter<float, 4>(x, {.initializer = lamina::init::constant(3)});
}
constexpr auto normed = program([](block& main) {
  auto x = layer::data<"x", float, 3, 4>(main);
  auto y = layer::rms_norm(x, {.name = "y"});
  auto plain = layer::rms_norm(x, {.epsilon = 0.5f, .scale = false, .name = "plain"});
  auto z = layer::assign(scaled(x), {.name = "z"});
  return std::tuple{layer::mean(y * y * y) + layer::mean(plain * x) + layer::mean(z), y, plain, z};
});
static_assert(normed.parameter_count() == 8);

}  // namespace

TEST_CASE("rms_norm: the engine") { lamina::law::check_engine(normed); }

TEST_CASE("rms_norm: values by hand") {
  lamina::model m{normed};
  const std::vector<float> g{1, 2, -1, 0.5f};
  m.set_parameter<"y.w_0">(lamina::array<float>({4}, g));
  lamina::evaluator e{m};
  const std::vector<float> x{1, 2, 3, 4, -1, 0, 0, 0, 0, 0, 0, 0};
  e.forward(lamina::feed<"x">(x));
  const auto y = e.activation<"y">();
  const auto plain = e.activation<"plain">();
  const auto z = e.activation<"z">();
  for (std::size_t i = 0; i < 3; ++i) {
    double squares = 0;
    for (std::size_t j = 0; j < 4; ++j) squares += static_cast<double>(x[4 * i + j]) * x[4 * i + j];
    for (std::size_t j = 0; j < 4; ++j) {
      CHECK(y(0, i, j) == Approx(x[4 * i + j] / std::sqrt(squares / 4 + 1e-6) * g[j]));
      CHECK(plain(0, i, j) == Approx(x[4 * i + j] / std::sqrt(squares / 4 + 0.5)));
      CHECK(z(0, i, j) == 3 * x[4 * i + j]);
    }
  }
}
