// SPDX-License-Identifier: Apache-2.0
// Costs that are a quotient of two sums over rows.

#include "train/costs_of_rows.hpp"
#include "train/net.hpp"
#include "train/trained_sentences.hpp"

#include <lamina/plan/quotient.hpp>

using trained_sentences::trained;
using trained_sentences::words;

TEST_CASE("a quotient of sums over rows is no sum over rows", "[threads]") {
  using sample = std::tuple<words, words>;
  const auto one = trained<sample>(test::cost_that_is_a_quotient, 1);
  for (const int threads : {2, 3})
    CHECK(test::distance(one, trained<sample>(test::cost_that_is_a_quotient, threads)) < 1e-5);
}
