// SPDX-License-Identifier: Apache-2.0
// A mini-batch and its parts.
#include <algorithm>
#include <vector>

#include "model/samples.hpp"
#include "model/sentences.hpp"
#include <catch2/catch.hpp>

#include <lamina/lamina.hpp>
#include <lamina/model/feeding/batch_view.hpp>

using sentences_of::polarity;
using sentences_of::sentence;
using sentences_of::sentences;

TEST_CASE("threads see whole sequences", "[threads]") {
  const auto data = sentences(64);
  const auto after = [&](int threads) {
    lamina::model model{polarity, 3};
    lamina::optimizer::sgd sgd{.learning_rate = 0.1f};
    sgd.train(model, data | lamina::reader::batch(16), {.passes = 2, .threads = threads});
    return model.parameter<"logits.w_0">();
  };
  const auto one = after(1), three = after(3);
  for (std::size_t i = 0; i < one.size(); ++i)
    CHECK(three.flat(i) == Approx(one.flat(i)).margin(2e-6));
}

TEST_CASE("parts of a mini-batch have equally many elements, but for a sample") {
  using program = std::remove_const_t<decltype(polarity)>;
  const auto check = [](const std::vector<int>& lengths, int parts) {
    std::vector<sentence> data;
    int all = 0, longest = 0;
    for (const int n : lengths) {
      data.push_back({std::vector<std::int64_t>(static_cast<std::size_t>(n), 3), 0});
      all += n + 1, longest = std::max(longest, n + 1);
    }
    lamina::feeder<program> feeder;
    feeder.fill(data);
    const auto batch = feeder.view();
    int first = 0;
    for (int t = 0; t < parts; ++t) {
      CHECK(lamina::first_of_part(batch, t, parts) == first);
      const int end = lamina::first_of_part(batch, t + 1, parts);
      REQUIRE(first <= end);
      const int count = static_cast<int>(batch.count_before(end) - batch.count_before(first));
      CHECK(std::abs(count - all / parts) <= longest);
      first = end;
    }
    CHECK(first == batch.size());
  };
  check({1, 2, 3, 4, 5, 6, 7, 8, 9, 10}, 2);
  check({1, 2, 3, 4, 5, 6, 7, 8, 9, 10}, 3);
  check({100, 0, 0, 0}, 4);
  check({0, 0, 0, 100}, 3);
  check({0, 0, 0}, 3);
  check({4, 4}, 5);
  check({7}, 2);
}
