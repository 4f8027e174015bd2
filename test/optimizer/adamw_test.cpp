// SPDX-License-Identifier: Apache-2.0
// adamw: its steps are its equation and PyTorch's, and a parameter may have another decay.
#include <array>
#include <cmath>
#include <vector>

#include "optimizer/equation_check.hpp"
#include <catch2/catch.hpp>

#include <lamina/lamina.hpp>

namespace layer = lamina::layer;
namespace optimizer = lamina::optimizer;
using optimizer_check::compare;
using optimizer_check::numbers;
using optimizer_check::size;

TEST_CASE("steps of adamw are its equation", "[optimizer]") {
  const double lr = 0.01f, decay = 0.3f, b1 = 0.9f, b2 = 0.999f, epsilon = 0.01f;
  compare(
      optimizer::adamw{.learning_rate = 0.01f, .weight_decay = 0.3f, .epsilon = 0.01f},
      [=](numbers& p, const numbers& g, std::vector<numbers>& s, int t) {
        for (std::size_t i = 0; i < size; ++i) {
          s[0][i] = b1 * s[0][i] + (1 - b1) * g[i];
          s[1][i] = b2 * s[1][i] + (1 - b2) * g[i] * g[i];
          const double m = s[0][i] / (1 - std::pow(b1, t)), v = s[1][i] / (1 - std::pow(b2, t));
          p[i] = p[i] * (1 - lr * decay) - lr * m / (std::sqrt(v) + epsilon);
        }
      },
      2e-5, 1e-7);  // the corrected numbers are floats
}

TEST_CASE("steps of adamw are those of torch.optim.AdamW", "[optimizer]") {
  const optimizer::adamw adamw{
      .learning_rate = 0.1f, .weight_decay = 0.25f, .beta2 = 0.99f, .epsilon = 1e-3f};
  const double grad[3][4] = {{0.25, -0.5, 0, 1e-3}, {1, 0.5, 0, -1e-3}, {-0.75, 2, 0, 1e-4}};
  // PyTorch 2.15 in double: AdamW([p], 0.1, (0.9, 0.99), 1e-3, 0.25)
  const double expected[3][4] = {
      {0.38789840637450196, -1.1189496007984032, 1.95, -0.05},
      {0.2900598994488246, -1.096228513368001, 1.90125, -0.04611842105263158},
      {0.2651858981544498, -1.1301299788045436, 1.85371875, -0.04516860007406559}};
  double p[4] = {0.5, -1.25, 2, 0}, m[4] = {}, v[4] = {};
  for (int step = 0; step < 3; ++step) {
    const auto host = adamw.scalars(step);
    const std::vector<double> s(host.begin(), host.end());
    for (int i = 0; i < 4; ++i) {
      optimizer::adamw::update(p[i], grad[step][i], m[i], v[i], s[0], s[1], s[2], s[3], s[4], s[5]);
      INFO("step " << step << ", element " << i);
      CHECK(p[i] == Approx(expected[step][i]).epsilon(1e-6));
    }
  }
}

TEST_CASE("adamw without decay and epsilon takes the steps of adam", "[optimizer]") {
  const optimizer::adamw adamw{.weight_decay = 0, .epsilon = 0};
  const optimizer::adam adam{.epsilon = 0};
  for (const int step : {0, 1, 50}) {
    const auto a = adamw.scalars(step);
    const auto b = adam.scalars(step);
    float p[2] = {0.5f, 0.5f}, m[2] = {0.1f, 0.1f}, v[2] = {0.2f, 0.2f};
    optimizer::adamw::update(p[0], 0.3f, m[0], v[0], a[0], a[1], a[2], a[3], a[4], a[5]);
    optimizer::adam::update(p[1], 0.3f, m[1], v[1], b[0], b[1], b[2], b[3]);
    CHECK(p[0] == p[1]);
    CHECK(m[0] == m[1]);
  }
  float p = 2, m = 0, v = 0;  // 0 / 0 counts as 0
  const auto a = adamw.scalars(0);
  optimizer::adamw::update(p, 0.f, m, v, a[0], a[1], a[2], a[3], a[4], a[5]);
  CHECK(p == 2);
}

namespace {

// The gradients of the parameters are 0, so their decay alone changes them.
constexpr auto still = lamina::program([](lamina::block& main) {
  const auto x = layer::data<"x", float, 1>(main);
  constexpr auto first = lamina::init::constant(2);
  const auto a = layer::create_parameter<float, 3>(main, {.name = "a", .initializer = first});
  const auto b = layer::create_parameter<float, 3>(
      main, {.name = "b", .initializer = first, .regularizer = lamina::l2_decay(0)});
  const auto c = layer::create_parameter<float, 3>(main, {.name = "c",
                                                          .initializer = first,
                                                          .learning_rate = 0.5f,
                                                          .regularizer = lamina::l2_decay(0.5f)});
  return layer::mean(layer::scale(x * layer::reduce_sum(a + b + c), 0));
});

}  // namespace

TEST_CASE("a parameter's own l2_decay replaces the decay of adamw", "[optimizer][threads]") {
  const std::vector<std::array<float, 1>> samples{{1.f}, {2.f}};
  for (const int threads : {1, 2}) {
    lamina::model m{still};
    optimizer::adamw{.learning_rate = 0.1f, .weight_decay = 0.25f}.train(
        m, samples | lamina::reader::batch(2), {.passes = 2, .threads = threads});
    CHECK(m.parameter<"a">()(0) == Approx(2 * 0.975 * 0.975));
    CHECK(m.parameter<"b">()(1) == 2.f);
    CHECK(m.parameter<"c">()(2) == Approx(2 * 0.975 * 0.975));
  }
}
