// SPDX-License-Identifier: Apache-2.0
// Parts of a mini-batch count so that several threads compute the gradients of one.
#include <cmath>
#include <vector>

#include "train/costs_of_rows.hpp"
#include "train/net.hpp"
#include "train/trained_sentences.hpp"

#include <lamina/train/gradients/cost_rows.hpp>

using trained_sentences::sentences;
using trained_sentences::trained;
using trained_sentences::values;
using trained_sentences::words;

TEST_CASE("means over rows of two kinds train on several threads as on one", "[threads]") {
  using sample = std::tuple<words, words, std::int64_t>;
  const auto one = trained<sample>(test::cost_of_two_kinds, 1);
  for (const int threads : {2, 3})
    CHECK(test::distance(one, trained<sample>(test::cost_of_two_kinds, threads)) < 1e-5);
  const auto reduced = trained<sample>(test::cost_of_two_reductions, 1);
  CHECK(test::distance(reduced, trained<sample>(test::cost_of_two_reductions, 3)) < 1e-5);
}

TEST_CASE("a cost that is a sum over rows trains on several threads as on one", "[threads]") {
  using sample = std::tuple<words, words>;
  values costs;
  const auto one = trained<sample>(test::cost_that_is_a_sum, 1, &costs);
  REQUIRE(costs.size() == 15);
  for (const int threads : {2, 3}) {
    values of_parts;
    CHECK(test::distance(one, trained<sample>(test::cost_that_is_a_sum, threads, &of_parts)) <
          1e-5);
    REQUIRE(of_parts.size() == costs.size());
    for (std::size_t i = 0; i < costs.size(); ++i) CHECK(of_parts[i] == Approx(costs[i]));
  }
}

template <test::guard Guard>
void check_masked() {
  using sample = std::tuple<words, words>;
  // Parts without a word that counts, and with one; each mini-batch has some.
  auto samples = sentences<sample>(29);
  for (std::size_t i = 0; i < samples.size(); ++i) {
    for (auto& tag : std::get<1>(samples[i]))
      if (i % 7 < 3 && tag == 1 && i != 28) tag = 2;
    if (i % 7 == 6 || i == 28) std::get<1>(samples[i]).front() = 1;
  }
  values told;
  const auto one = trained<sample>(test::masked_cost<Guard>, 1, &told, samples);
  REQUIRE(told.size() == 15);
  for (const int threads : {2, 3, 7}) {
    values of_parts;
    CHECK(test::distance(
              one, trained<sample>(test::masked_cost<Guard>, threads, &of_parts, samples)) < 1e-5);
    REQUIRE(of_parts.size() == told.size());
    for (std::size_t i = 0; i < told.size(); ++i) CHECK(of_parts[i] == Approx(told[i]));
  }
}

TEST_CASE("masked means train on several threads as on one", "[threads]") {
  check_masked<test::guard::none>();
  check_masked<test::guard::sum>();
  check_masked<test::guard::largest>();
  check_masked<test::guard::means>();
  check_masked<test::guard::clip>();
}

/// All numbers of a model.
template <class P>
values numbers_of(const lamina::model<P>& m) {
  values all;
  for (int i = 0; i < lamina::model<P>::parameter_arrays(); ++i) {
    const auto of = m.get(i);
    all.insert(all.end(), of.begin(), of.end());
  }
  return all;
}

/// NaN at the same places, and the same numbers elsewhere.
void check_same(const values& found, const values& expected) {
  REQUIRE(found.size() == expected.size());
  for (std::size_t i = 0; i < found.size(); ++i) {
    CHECK(std::isnan(found[i]) == std::isnan(expected[i]));
    if (!std::isnan(expected[i])) CHECK(found[i] == Approx(expected[i]).margin(1e-5));
  }
}

/// The second mini-batch has no word that counts, or none at all.
template <test::guard Guard>
void check_wholly_masked(bool has_words) {
  using sample = std::tuple<words, words>;
  auto samples = sentences<sample>(14);
  for (std::size_t i = 0; i < samples.size(); ++i) {
    auto& [word, tag] = samples[i];
    if (i >= 7 && !has_words) word.clear(), tag.clear();
    for (auto& each : tag)
      if (i >= 7 && each == 1) each = 2;
    if (i == 0) tag.front() = 1;
  }
  const auto run = [&](int threads) {
    values told;
    const auto m = trained<sample>(test::masked_cost<Guard>, threads, &told, samples);
    values all = numbers_of(m);
    all.insert(all.end(), told.begin(), told.end());
    return all;
  };
  const values one = run(1);
  const bool divides_by_0 = Guard == test::guard::none || Guard == test::guard::means;
  CHECK(std::isnan(one[0]) == (divides_by_0 && has_words));
  CHECK(std::isnan(one.back()) == divides_by_0);  // the cost of the last mini-batch
  for (const int threads : {2, 3, 7}) {
    INFO(threads << " threads");
    check_same(run(threads), one);
  }
}

// A masked mean of nothing is 0 / 0, as in other libraries: NaN, however many threads there are.
TEST_CASE("a wholly masked mini-batch is the same for any number of threads", "[threads]") {
  for (const bool has_words : {true, false}) {
    INFO("has words: " << has_words);
    check_wholly_masked<test::guard::none>(has_words);
    check_wholly_masked<test::guard::sum>(has_words);
    check_wholly_masked<test::guard::largest>(has_words);
    check_wholly_masked<test::guard::means>(has_words);
    check_wholly_masked<test::guard::clip>(has_words);
  }
}

template <int Kind>
void check_refused() {
  using sample = std::tuple<std::vector<float>>;
  const std::vector<sample> samples(6, sample{{1.f, 2.f, 3.f}});
  CHECK_NOTHROW(trained<sample>(test::cost_of_all_rows<Kind>, 1, nullptr, samples));
  CHECK_THROWS_WITH(trained<sample>(test::cost_of_all_rows<Kind>, 2, nullptr, samples),
                    Catch::Contains("train: expected 1 thread or process for a cost") &&
                        Catch::Contains("found 2"));
}

TEST_CASE("costs that are not what those of parts add up to take one thread", "[threads]") {
  check_refused<0>();
  check_refused<1>();
  check_refused<2>();
  check_refused<3>();
}

TEST_CASE("metrics count samples without rows of the cost, and sums are sums", "[threads]") {
  using sample = std::tuple<words, words, std::int64_t>;
  // The first, or the last, of every three have no words at all.
  for (const int empty : {0, 2}) {
    auto samples = sentences<sample>(29);
    for (std::size_t i = 0; i < samples.size(); ++i)
      if (static_cast<int>(i % 7 / 3) == empty) {
        std::get<0>(samples[i]).clear();
        std::get<1>(samples[i]).clear();
      }
    values told;
    const auto one = trained<sample>(test::cost_beside_metrics, 1, &told, samples);
    REQUIRE(told.size() == 15 * 4);
    for (const int threads : {2, 3, 7}) {
      values of_parts;
      const auto parts = trained<sample>(test::cost_beside_metrics, threads, &of_parts, samples);
      CHECK(test::distance(one, parts) < 1e-5);
      REQUIRE(of_parts.size() == told.size());
      for (std::size_t i = 0; i < told.size(); ++i)
        CHECK(of_parts[i] == Approx(told[i]).margin(1e-5));
    }
  }
}
