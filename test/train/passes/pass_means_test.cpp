// SPDX-License-Identifier: Apache-2.0
// Metrics of each pass of training begin anew.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "model/scores.hpp"
#include <catch2/catch.hpp>

#include <lamina/lamina.hpp>
#include <lamina/train/passes/pass_means.hpp>

namespace layer = lamina::layer;
namespace reader = lamina::reader;

using namespace scored;

TEST_CASE("metrics of a pass: each pass of training begins with nothing, with any threads",
          "[threads]") {
  const auto all = some_samples(1);
  for (const int threads : {1, 2, 3}) {
    lamina::model m{scores};
    set_weights(m);
    int passes = 0;
    lamina::optimizer::sgd{.learning_rate = 0.f}.train(
        m, all | reader::batch(6),
        {.passes = 2, .threads = threads, .on_event = [&](const lamina::event& e) {
           if (!e.is_end_pass()) return;
           ++passes;
           for (const auto& [name, value] : values_of(all)) {
             INFO(name << " with threads: " << threads);
             CHECK(e.metric(name) == Approx(value).epsilon(1e-3));
           }
         }});
    CHECK(passes == 2);
  }
}
