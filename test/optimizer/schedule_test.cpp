// SPDX-License-Identifier: Apache-2.0
// Learning-rate schedules against their closed forms, as constants, and with bad arguments.
#include <cmath>
#include <cstdint>
#include <vector>

#include <catch2/catch.hpp>

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
static_assert(learning_rate(0.25f).at(12345) == 0.25f);
static_assert(learning_rate(schedule::polynomial_decay{
                                .learning_rate = 1.f, .decay_steps = 10, .end_learning_rate = 0.f})
                  .at(5) == 0.5f);

// An optimizer with a schedule can be a template argument.
template <lamina::optimizer::sgd Opt>
constexpr float rate_at_150 = Opt.learning_rate.at(150);
static_assert(rate_at_150<lamina::optimizer::sgd{.learning_rate = pieces}> == 0.5f);

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

TEST_CASE("a warm-up goes before any schedule", "[optimizer]") {
  const schedule::exponential_decay decay{
      .learning_rate = 0.4f, .decay_steps = 10, .decay_rate = 0.5f};
  const learning_rate rate = schedule::linear_lr_warmup{
      .learning_rate = decay, .warmup_steps = 5, .start_lr = 0.1f, .end_lr = 0.2f};
  for (int s = 0; s < 5; ++s) CHECK(rate.at(s) == Approx(0.1 + 0.1 * s / 5));
  for (int s = 5; s < 30; ++s) CHECK(rate.at(s) == learning_rate(decay).at(s));
  CHECK_THROWS_WITH((learning_rate(schedule::linear_lr_warmup{rate, 3, 0.f, 1.f})),
                    Catch::Contains("linear_lr_warmup"));
}

TEST_CASE("piecewise_decay from lists of run-time length", "[optimizer]") {
  const std::vector<std::int64_t> ends{3, 7};
  const std::vector<float> values{3.f, 2.f, 1.f};
  const learning_rate rate = schedule::piecewise_decay(ends, values);
  for (int s = 0; s < 10; ++s) CHECK(rate.at(s) == (s < 3 ? 3.f : s < 7 ? 2.f : 1.f));
  CHECK_THROWS_AS(
      schedule::piecewise_decay(ends, ends.size() == 2 ? std::vector<float>{1.f, 2.f} : values),
      lamina::error);
  const std::vector<std::int64_t> falling{7, 3};
  CHECK_THROWS_WITH(schedule::piecewise_decay(falling, values), Catch::Contains("rise"));
  const std::vector<float> many(17, 1.f);
  std::vector<std::int64_t> bounds;
  for (int i = 0; i < 16; ++i) bounds.push_back(i + 1);
  CHECK_THROWS_WITH(schedule::piecewise_decay(bounds, many), Catch::Contains("16"));
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

TEST_CASE("v2's schedules count samples", "[optimizer]") {
  namespace v2 = schedule::v2;
  const learning_rate poly =
      v2::poly{.learning_rate = 0.1f, .a = 1e-3, .b = 0.75, .batch_size = 32};
  const learning_rate caffe =
      v2::caffe_poly{.learning_rate = 0.1f, .a = 3200, .b = 2, .batch_size = 32};
  const learning_rate exp = v2::exp{.learning_rate = 0.1f, .a = 0.5, .b = 100, .batch_size = 32};
  const learning_rate steps =
      v2::discexp{.learning_rate = 0.1f, .a = 0.5, .b = 100, .batch_size = 32};
  const learning_rate line =
      v2::linear{.learning_rate = 0.1f, .a = 1e-5, .b = 0.01, .batch_size = 32};
  for (const std::int64_t s : some_steps) {
    const double n = static_cast<double>((s + 1) * 32);
    CHECK(poly.at(s) == Approx(0.1 * std::pow(1 + 1e-3 * n, -0.75)));
    CHECK(caffe.at(s) ==
          Approx(n > 3200 ? 0.0 : 0.1 * (1 - n / 3200) * (1 - n / 3200)).margin(1e-9));
    CHECK(exp.at(s) == Approx(0.1 * std::pow(0.5, n / 100)).margin(1e-30));
    CHECK(steps.at(s) == Approx(0.1 * std::pow(0.5, std::floor(n / 100))).margin(1e-30));
    CHECK(line.at(s) == Approx(std::max(0.1 - 1e-5 * n, 0.01)));
  }

  const learning_rate manual = v2::manual(0.1f, 32, {100, 200, 300}, {1.f, 0.5f, 0.25f});
  for (std::int64_t s = 0; s < 20; ++s) {
    const std::int64_t n = (s + 1) * 32;
    CHECK(manual.at(s) == Approx(0.1 * (n <= 100 ? 1 : n <= 200 ? 0.5 : 0.25)));
  }
  const learning_rate passes = v2::pass_manual(0.1f, 10, {0, 2, 3}, {1.f, 0.5f, 0.25f});
  for (std::int64_t s = 0; s < 60; ++s) {
    const std::int64_t pass = s / 10;
    CHECK(passes.at(s) == Approx(0.1 * (pass <= 0 ? 1 : pass <= 2 ? 0.5 : 0.25)));
  }
}
