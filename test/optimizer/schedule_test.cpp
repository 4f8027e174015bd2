// SPDX-License-Identifier: Apache-2.0
// Schedules of learning rates are the equations of Fluid.
#include <cmath>
#include <cstdint>

#include <catch2/catch.hpp>

#include <lamina/optimizer/schedule.hpp>
#include <lamina/optimizer/sgd.hpp>

namespace schedule = lamina::schedule;
using lamina::optimizer::learning_rate;

namespace {

// Constants: no run-time code is left to choose the piece.
constexpr learning_rate pieces = schedule::piecewise_decay({100, 200}, {1.f, 0.5f, 0.1f});

static_assert(pieces.at(0) == 1.f && pieces.at(99) == 1.f);

static_assert(pieces.at(100) == 0.5f && pieces.at(199) == 0.5f);

static_assert(pieces.at(200) == 0.1f && pieces.at(1'000'000) == 0.1f);

constexpr learning_rate warm = schedule::linear_lr_warmup{
    .learning_rate = pieces, .warmup_steps = 4, .start_lr = 0.f, .end_lr = 1.f};

static_assert(warm.at(0) == 0.f && warm.at(1) == 0.25f && warm.at(3) == 0.75f);

static_assert(warm.at(4) == 1.f && warm.at(150) == 0.5f);

static_assert(learning_rate(schedule::polynomial_decay{
                                .learning_rate = 1.f, .decay_steps = 10, .end_learning_rate = 0.f})
                  .at(5) == 0.5f);

double staircase(std::int64_t s, std::int64_t steps, bool whole) {
  const double ratio = static_cast<double>(s) / static_cast<double>(steps);
  return whole ? std::floor(ratio) : ratio;
}

constexpr std::int64_t some_steps[] = {0, 1, 2, 9, 10, 11, 99, 100, 101, 1000, 12345};

}  // namespace

TEST_CASE("noam_decay counts from 1", "[optimizer]") {
  const learning_rate rate =
      schedule::noam_decay{.d_model = 512, .warmup_steps = 100, .learning_rate = 2.f};
  for (const std::int64_t step : some_steps) {
    const double s = static_cast<double>(step) + 1;
    CHECK(rate.at(step) ==
          Approx(2 * std::pow(512, -0.5) * std::min(std::pow(s, -0.5), s * std::pow(100, -1.5))));
  }
}

TEST_CASE("exponential, natural exponential and inverse time decay", "[optimizer]") {
  for (const bool whole : {false, true}) {
    const learning_rate exponential = schedule::exponential_decay{
        .learning_rate = 0.1f, .decay_steps = 10, .decay_rate = 0.99f, .staircase = whole};
    const learning_rate natural = schedule::natural_exp_decay{
        .learning_rate = 0.1f, .decay_steps = 10, .decay_rate = 0.01f, .staircase = whole};
    const learning_rate inverse = schedule::inverse_time_decay{
        .learning_rate = 0.1f, .decay_steps = 10, .decay_rate = 0.5f, .staircase = whole};
    for (const std::int64_t s : some_steps) {
      const double x = staircase(s, 10, whole);
      CHECK(exponential.at(s) == Approx(0.1 * std::pow(0.99f, x)));
      CHECK(natural.at(s) == Approx(0.1 * std::exp(-0.01 * x)));
      CHECK(inverse.at(s) == Approx(0.1 / (1 + 0.5 * x)));
    }
  }
}

TEST_CASE("polynomial_decay, once and in cycles", "[optimizer]") {
  for (const float power : {1.f, 2.f, 0.5f}) {
    const learning_rate once =
        schedule::polynomial_decay{.learning_rate = 0.5f, .decay_steps = 100, .power = power};
    const learning_rate cycle = schedule::polynomial_decay{
        .learning_rate = 0.5f, .decay_steps = 100, .power = power, .cycle = true};
    for (const std::int64_t step : some_steps) {
      const double s = static_cast<double>(step);
      const double end = 1e-4;
      CHECK(once.at(step) ==
            Approx((0.5 - end) * std::pow(1 - std::min(s, 100.0) / 100, power) + end));
      double length = 100 * std::ceil(s / 100);
      if (step == 0) length = 100;
      CHECK(cycle.at(step) ==
            Approx((0.5 - end) * std::pow(1 - s / length, power) + end).margin(1e-7));
    }
    CHECK(cycle.at(0) == 0.5f);
    CHECK(cycle.at(100) == Approx(1e-4));
    CHECK(cycle.at(101) > 0.01f);
  }
}

TEST_CASE("cosine_decay changes once an epoch", "[optimizer]") {
  const learning_rate rate =
      schedule::cosine_decay{.learning_rate = 0.1f, .step_each_epoch = 10, .epochs = 120};
  for (const std::int64_t s : some_steps)
    CHECK(rate.at(s) ==
          Approx(0.05 *
                 (std::cos(std::floor(static_cast<double>(s) / 10) * std::acos(-1.0) / 120) + 1))
              .margin(1e-8));
  CHECK(rate.at(0) == 0.1f);
  CHECK(rate.at(10) == rate.at(19));
  CHECK(rate.at(19) > rate.at(20));
}

TEST_CASE("schedules refuse to divide by zero", "[optimizer]") {
  CHECK_THROWS_AS(learning_rate(schedule::exponential_decay{.decay_steps = 0}), lamina::error);
  CHECK_THROWS_AS(learning_rate(schedule::polynomial_decay{.decay_steps = -1}), lamina::error);
  CHECK_THROWS_AS(learning_rate(schedule::cosine_decay{.step_each_epoch = 0}), lamina::error);
  CHECK_THROWS_AS(learning_rate(schedule::cosine_decay{.epochs = 0}), lamina::error);
  CHECK_THROWS_AS(learning_rate(schedule::noam_decay{.d_model = 0}), lamina::error);
  CHECK_THROWS_AS(learning_rate(schedule::v2::caffe_poly{.a = 0}), lamina::error);
  CHECK_THROWS_AS(learning_rate(schedule::linear_lr_warmup{0.1f, 0, 0.f, 1.f}), lamina::error);
}
