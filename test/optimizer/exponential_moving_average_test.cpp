// SPDX-License-Identifier: Apache-2.0
// exponential_moving_average: a weighted mean from the first step on.
#include <cmath>
#include <cstdint>
#include <span>
#include <vector>

#include <catch2/catch.hpp>

#include <lamina/core/numbers/philox.hpp>
#include <lamina/optimizer/exponential_moving_average.hpp>
#include <lamina/optimizer/model_average.hpp>

namespace optimizer = lamina::optimizer;

namespace {

struct parameters {
  std::vector<std::vector<float>> values{std::vector<float>(3), std::vector<float>(2)};
  int size() const { return static_cast<int>(values.size()); }
  std::span<float> span(int i) { return values[static_cast<std::size_t>(i)]; }
  void set(int step) {
    for (std::size_t i = 0; i < values.size(); ++i)
      for (std::size_t k = 0; k < values[i].size(); ++k)
        values[i][k] = lamina::uniform_at(3, static_cast<std::uint64_t>(step), i * 10 + k);
  }
};

}  // namespace

TEST_CASE("exponential_moving_average is a weighted mean from the first step", "[optimizer]") {
  for (const bool ramp : {false, true}) {
    optimizer::exponential_moving_average average(0.9f);
    parameters p;
    std::vector<double> weights;
    for (int step = 0; step < 120; ++step) {
      p.set(step);
      const double decay =
          ramp ? std::min<double>(0.9f, (1.0 + step) / (10.0 + step)) : static_cast<double>(0.9f);
      for (double& weight : weights) weight *= decay;
      weights.push_back(1 - decay);
      if (ramp)
        average.update(p, step);
      else
        average.update(p);

      const auto before = p.values;
      {
        auto applied = average.apply(p);
        for (std::size_t i = 0; i < 2; ++i)
          for (std::size_t k = 0; k < p.values[i].size(); ++k) {
            double sum = 0, total = 0;
            for (std::size_t s = 0; s < weights.size(); ++s) {
              sum += weights[s] * lamina::uniform_at(3, s, i * 10 + k);
              total += weights[s];
            }
            CHECK(p.values[i][k] == Approx(sum / total).epsilon(1e-4));
          }
      }
      CHECK(p.values == before);
    }
    CHECK(average.updates() == 120);
    if (!ramp) CHECK(average.decays() == Approx(std::pow(0.9, 120)).epsilon(1e-4));
  }
}

// In float, the average of 0.1 would be 7e-3 off after a million steps of decay 0.99999.
TEST_CASE("exponential_moving_average of a constant is the constant", "[optimizer]") {
  for (const float decay : {0.f, 0.9f, 0.9999f, 0.99999f})
    for (const float constant : {0.1f, -3e5f, 1e-30f, 1e38f}) {
      CAPTURE(decay, constant);
      optimizer::exponential_moving_average average(decay);
      parameters p;
      for (std::vector<float>& v : p.values) v.assign(v.size(), constant);
      for (int step = 0; step < 30000; ++step) average.update(p);
      auto applied = average.apply(p);
      CHECK(p.values[1][1] == constant);
    }
}

// A fraction of 1e-5 of a difference below 1e-4 is less than half a unit in the last place of 1.
TEST_CASE("exponential_moving_average follows small changes", "[optimizer]") {
  optimizer::exponential_moving_average average(0.99999f);
  parameters p;
  const double keep = 0.99999f;
  double expected = 0;
  for (int step = 0; step < 200000; ++step) {
    p.values[0][0] = step < 100000 ? 1.f : 1.0001f;
    average.update(p);
    expected = keep * expected + (1 - keep) * static_cast<double>(p.values[0][0]);
  }
  auto applied = average.apply(p);
  CHECK(p.values[0][0] == static_cast<float>(expected / (1 - average.decays())));
  CHECK(p.values[0][0] > 1.00005f);
}
