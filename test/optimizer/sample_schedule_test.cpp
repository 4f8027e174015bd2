// SPDX-License-Identifier: Apache-2.0
// The schedules of v2, which count samples.
#include <cmath>
#include <cstdint>

#include <catch2/catch.hpp>

#include <lamina/optimizer/sample_schedule.hpp>
#include <lamina/optimizer/sgd.hpp>

namespace schedule = lamina::schedule;
using lamina::optimizer::learning_rate;

namespace {

constexpr std::int64_t some_steps[] = {0, 1, 2, 9, 10, 11, 99, 100, 101, 1000, 12345};

}  // namespace

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
