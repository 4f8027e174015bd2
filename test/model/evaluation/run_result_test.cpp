// SPDX-License-Identifier: Apache-2.0
// Cost and metrics of a run.

#include "model/classifier.hpp"
#include "model/samples.hpp"

#include <lamina/model/evaluation/run_result.hpp>
#include <lamina/model/evaluator.hpp>
#include <lamina/reader/reader.hpp>

using Catch::Contains;
using classifier::expected_of;
using classifier::expected_values;
using classifier::images;
using classifier::labels;
using classifier::net;

TEST_CASE("with all data the cost and the metrics are there, and test() is their mean") {
  lamina::model m{net, 3};
  lamina::evaluator e{m};
  const auto samples = test::samples(50);
  const auto x = images(samples);
  const auto y = labels(samples);
  double cost = 0, right = 0;
  for (const test::sample& s : samples) {
    const expected_values want = expected_of(m, s);
    cost -= std::log(want.probability[static_cast<std::size_t>(s.label)]) / 50;
    const auto best = std::max_element(want.output.begin(), want.output.end());
    right += (best - want.output.begin() == s.label) / 50.0;
  }
  e.forward(lamina::feed<"x">(x), lamina::feed<"label">(y));
  CHECK(e.cost() == Approx(cost).epsilon(1e-5));
  CHECK(e.activation<"accuracy">()(0) == Approx(right));

  // 50 = 16 + 16 + 16 + 2: the mean is over samples, not over mini-batches.
  const auto result = e.test(samples | lamina::reader::batch(16));
  CHECK(result.samples == 50);
  CHECK(result.cost == Approx(cost).epsilon(1e-5));
  CHECK(result.metric("accuracy") == Approx(right));
  CHECK(result.metrics.size() == 1);
  CHECK_THAT(test::error_of([&] { result.metric("recall"); }),
             Contains("found 'recall'; the program has: accuracy"));
}
