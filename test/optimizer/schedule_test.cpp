// SPDX-License-Identifier: Apache-2.0
// Schedules of learning rates are the equations of Fluid, and of PyTorch.
#include <cmath>
#include <cstdint>
#include <initializer_list>

#include <catch2/catch.hpp>

#include <lamina/optimizer/schedule.hpp>
#include <lamina/optimizer/sgd.hpp>
#include <lamina/optimizer/step_operators.hpp>

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

TEST_CASE("one_cycle is torch.optim.lr_scheduler.OneCycleLR", "[optimizer]") {
  using schedule::anneal;
  const auto check = [](const learning_rate& rate, std::initializer_list<double> expected) {
    std::int64_t step = 0;
    for (const double e : expected) {
      INFO("step " << step);
      CHECK(rate.at(step) == Approx(e).epsilon(2e-6));
      // A training step inside of a program computes the rate from the recorded numbers.
      const double numbers[] = {0,
                                0,
                                static_cast<double>(rate.kind),
                                rate.flag ? 1. : 0.,
                                static_cast<double>(rate.base),
                                rate.a,
                                rate.b,
                                static_cast<double>(rate.m),
                                static_cast<double>(rate.n),
                                0,
                                0,
                                0};
      CHECK(lamina::optimizer::rate_of_step(
                step, [&](int i) { return numbers[i]; }, rate.piecewise.pieces,
                [](int) { return 0; },
                [&](int i) { return rate.piecewise.values[i]; }) == rate.at(step));
      ++step;
    }
    CHECK(rate.at(step) == rate.at(step - 1));
    CHECK(rate.at(1'000'000'000'000) == rate.at(step - 1));
  };
  // The rates of PyTorch 2.15.
  check(schedule::one_cycle{.max_lr = 0.1f, .total_steps = 10},
        {0.004, 0.052, 0.1, 0.0950484632, 0.0811745654, 0.0611262022, 0.0388741978, 0.0188258346,
         0.0049519368, 4e-07});
  check(schedule::one_cycle{.max_lr = 0.1f,
                            .total_steps = 10,
                            .pct_start = 0.4f,
                            .anneal_strategy = anneal::linear,
                            .div_factor = 10,
                            .final_div_factor = 100,
                            .three_phase = true},
        {0.01, 0.04, 0.07, 0.1, 0.07, 0.04, 0.01, 0.0067, 0.0034, 0.0001});
  check(
      schedule::one_cycle{
          .max_lr = 0.5f, .total_steps = 7, .pct_start = 0.25f, .three_phase = true},
      {0.02, 0.38, 0.0193969865, 0.0150005, 0.00826469187, 0.00234132161, 2e-06});
  check(schedule::one_cycle{.max_lr = 1, .total_steps = 4, .pct_start = 0.1f},
        {0.93301297, 0.586825742, 0.178609481, 4e-06});
  check(schedule::one_cycle{.max_lr = 1, .total_steps = 4, .pct_start = 1},
        {0.04, 0.28, 0.76, 1.0, 4e-06});
  // PyTorch divides 0 by 0 here.
  check(schedule::one_cycle{.max_lr = 1, .total_steps = 2, .pct_start = 0.5f}, {1, 4e-6});
  check(schedule::one_cycle{.max_lr = 1, .total_steps = 1}, {4e-6});
}

TEST_CASE("schedules refuse to divide by zero", "[optimizer]") {
  CHECK_THROWS_AS(learning_rate(schedule::exponential_decay{.decay_steps = 0}), lamina::error);
  CHECK_THROWS_AS(learning_rate(schedule::polynomial_decay{.decay_steps = -1}), lamina::error);
  CHECK_THROWS_AS(learning_rate(schedule::cosine_decay{.step_each_epoch = 0}), lamina::error);
  CHECK_THROWS_AS(learning_rate(schedule::cosine_decay{.epochs = 0}), lamina::error);
  CHECK_THROWS_AS(learning_rate(schedule::noam_decay{.d_model = 0}), lamina::error);
  CHECK_THROWS_AS(learning_rate(schedule::one_cycle{.total_steps = 0}), lamina::error);
  CHECK_THROWS_AS(learning_rate(schedule::one_cycle{.pct_start = 1.5f}), lamina::error);
  CHECK_THROWS_AS(learning_rate(schedule::one_cycle{.div_factor = 0}), lamina::error);
  CHECK_THROWS_AS(learning_rate(schedule::one_cycle{.final_div_factor = 0}), lamina::error);
  CHECK_THROWS_AS(learning_rate(schedule::v2::caffe_poly{.a = 0}), lamina::error);
  CHECK_THROWS_AS(learning_rate(schedule::linear_lr_warmup{0.1f, 0, 0.f, 1.f}), lamina::error);
}
