// SPDX-License-Identifier: Apache-2.0
// model_average: the mean over one or two windows of updates.
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

// The mean of the last `count` values of parameter i, element k, up to and with `step`.
double mean_of_last(int step, std::int64_t count, std::size_t i, std::size_t k) {
  double sum = 0;
  for (int s = step; s > step - static_cast<int>(count); --s)
    sum += lamina::uniform_at(3, static_cast<std::uint64_t>(s), i * 10 + k);
  return sum / static_cast<double>(count);
}

}  // namespace

TEST_CASE("model_average holds the last one or two windows", "[optimizer]") {
  const float rate = 0.15f;
  const std::int64_t least = 4, most = 20;
  optimizer::model_average average(
      {.rate = rate, .min_average_window = least, .max_average_window = most});
  parameters p;
  std::int64_t open = 0, closed = 0;
  int closings = 0;
  for (int step = 0; step < 500; ++step) {
    p.set(step);
    average.update(p);
    ++open;
    const auto share = static_cast<std::int64_t>(static_cast<float>(step + 1) * rate);
    if (open >= least && open >= std::min(most, share)) closed = open, open = 0, ++closings;
    CHECK(average.counters().accumulates == open);
    CHECK(average.counters().old_accumulates == closed);
    CHECK(average.counters().updates == step + 1);

    const auto before = p.values;
    {
      auto applied = average.apply(p);
      for (std::size_t i = 0; i < 2; ++i)
        for (std::size_t k = 0; k < p.values[i].size(); ++k)
          CHECK(p.values[i][k] == Approx(mean_of_last(step, open + closed, i, k)).epsilon(1e-5));
    }
    CHECK(p.values == before);
  }
  CHECK(closings > 20);
  CHECK(closed == most);
}

TEST_CASE("model_average moves sum_1 to sum_2 every 16384 updates", "[optimizer]") {
  optimizer::model_average average(
      {.rate = 1, .min_average_window = 100000, .max_average_window = 100000});
  parameters p;
  for (std::vector<float>& v : p.values) v.assign(v.size(), 0.5f);
  for (int step = 0; step < 16383; ++step) average.update(p);
  CHECK(average.sums(0)[0][0] == 16383 * 0.5f);
  CHECK(average.sums(1)[0][0] == 0.f);
  average.update(p);
  CHECK(average.sums(0)[0][0] == 0.f);
  CHECK(average.sums(1)[0][0] == 16384 * 0.5f);
  average.update(p);
  CHECK(average.sums(0)[0][0] == 0.5f);
  CHECK(average.sums(2)[0][0] == 0.f);
  auto applied = average.apply(p);
  CHECK(p.values[1][1] == 0.5f);
}

TEST_CASE("a window that closes while sum_1 moves loses nothing", "[optimizer]") {
  optimizer::model_average average(
      {.rate = 1, .min_average_window = 16384, .max_average_window = 16384});
  parameters p;
  for (std::vector<float>& v : p.values) v.assign(v.size(), 2.f);
  for (int step = 0; step < 16384; ++step) average.update(p);
  CHECK(average.counters().old_accumulates == 16384);
  CHECK(average.counters().accumulates == 0);
  CHECK(average.sums(2)[1][0] == 32768.f);
  CHECK(average.sums(0)[1][0] == 0.f);
  CHECK(average.sums(1)[1][0] == 0.f);
}

// In float, a sum of 16384 values loses four digits of each.
TEST_CASE("model_average of a constant is the constant", "[optimizer]") {
  for (const float constant : {0.1f, -3e5f, 1e-30f, 1e34f}) {
    CAPTURE(constant);
    optimizer::model_average average(
        {.rate = 1, .min_average_window = 20000, .max_average_window = 20000});
    parameters p;
    for (std::vector<float>& v : p.values) v.assign(v.size(), constant);
    for (int step = 0; step < 50001; ++step) average.update(p);
    auto applied = average.apply(p);
    CHECK(p.values[1][1] == constant);
  }
}
