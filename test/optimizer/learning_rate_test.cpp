// SPDX-License-Identifier: Apache-2.0
// Learning rates: a warm-up in front of any schedule, lists of values.
#include <cstdint>
#include <vector>

#include <catch2/catch.hpp>

#include <lamina/optimizer/learning_rate.hpp>
#include <lamina/optimizer/sgd.hpp>

namespace schedule = lamina::schedule;
using lamina::optimizer::learning_rate;

namespace {

// Constants: no run-time code is left to choose the piece.
constexpr learning_rate pieces = schedule::piecewise_decay({100, 200}, {1.f, 0.5f, 0.1f});

static_assert(learning_rate(0.25f).at(12345) == 0.25f);

// An optimizer with a schedule can be a template argument.
template <lamina::optimizer::sgd Opt>
constexpr float rate_at_150 = Opt.learning_rate.at(150);

static_assert(rate_at_150<lamina::optimizer::sgd{.learning_rate = pieces}> == 0.5f);

}  // namespace

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
