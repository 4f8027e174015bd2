// SPDX-License-Identifier: Apache-2.0
// Parts of a reader have no common element and lose none. Sources: marin-community/marin#2700,
// TensorAuto/OpenTau#498, Lightning-Universe/lightning-flash#143.
#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include <lamina/core/messages/error.hpp>
#include <lamina/reader/reader.hpp>
#include <lamina/reader/split.hpp>

namespace reader = lamina::reader;

namespace {

std::vector<int> numbers(int n) {
  std::vector<int> all;
  for (int i = 0; i < n; ++i) all.push_back(i);
  return all;
}
template <class R>
std::vector<int> read(const R& from, std::uint64_t pass = 0) {
  std::vector<int> all;
  for (auto&& x : reader::begin_pass(from, pass)) all.push_back(x);
  return all;
}

}  // namespace

TEST_CASE("split: both parts together are the source, in every pass, also of a shuffled one") {
  for (const int n : {0, 1, 2, 5, 99, 1000})
    for (const double share : {0.8, 0.2, 0.5, 0.9, 0.37, 0.999}) {
      const auto [training, validation] =
          numbers(n) | reader::shuffle(100, 4) | reader::split(share, 7);
      const auto first = read(training), second = read(validation);
      CHECK(std::abs(static_cast<double>(first.size()) - share * n) <= 1);
      auto all = first;
      all.insert(all.end(), second.begin(), second.end());
      std::sort(all.begin(), all.end());
      CHECK(all == numbers(n));
      CHECK(read(training, 3) == first);  // the shuffle before the split is the same in each pass
      CHECK(read(validation, 5) == second);
    }
}

TEST_CASE("split: the draw depends on the seed and on no order in the data") {
  const auto drawn = [](std::uint64_t seed) {
    const auto [training, validation] = numbers(1000) | reader::split(0.8, seed);
    return read(validation);
  };
  CHECK(drawn(1) == drawn(1));
  CHECK(drawn(1) != drawn(2));
  std::vector<int> by_rest(5);
  for (const int x : drawn(3)) ++by_rest[static_cast<std::size_t>(x % 5)];
  for (const int count : by_rest) CHECK(count > 20);  // 40 each on average
}

TEST_CASE("split: a part is a reader that shuffle and batch take") {
  const auto [training, validation] = numbers(100) | reader::split(0.8);
  const auto shuffled = training | reader::shuffle(100) | reader::batch(16);
  std::multiset<int> found;
  std::size_t batches = 0;
  for (auto&& batch : reader::begin_pass(shuffled, 1)) {
    found.insert(batch.begin(), batch.end());
    ++batches;
  }
  const auto all = read(training);
  CHECK(batches == 5);
  CHECK(found == std::multiset<int>(all.begin(), all.end()));
}

TEST_CASE("split: elements with one key stay together") {
  for (const bool as_text : {false, true}) {
    const auto group = [](int x) { return x / 7; };
    const auto name = [](int x) { return std::to_string(x / 7); };
    std::set<int> first, second;
    std::size_t count = 0;
    const auto collect = [&](const auto& parts) {
      for (const int x : read(parts.first)) first.insert(x / 7), ++count;
      for (const int x : read(parts.second)) second.insert(x / 7);
    };
    if (as_text)
      collect(numbers(1400) | reader::split(0.8, name));
    else
      collect(numbers(1400) | reader::split(0.8, group));
    std::vector<int> both;
    std::set_intersection(first.begin(), first.end(), second.begin(), second.end(),
                          std::back_inserter(both));
    CHECK(both.empty());
    CHECK(first.size() + second.size() == 200);
    CHECK(count == Approx(1120).margin(140));
  }
}

TEST_CASE("split: a fraction of nothing or of all is an error") {
  for (const double share : {0.0, 1.0, -0.5, 80.0})
    CHECK_THROWS_WITH(reader::split(share),
                      Catch::Contains("expected a fraction above 0 and below 1"));
}

TEST_CASE("k_fold: each element is in one fold, folds have one size, drawn by the seed") {
  for (const int n : {0, 1, 4, 5, 99, 1000})
    for (const int k : {2, 5, 7}) {
      std::vector<int> all;
      for (int fold = 0; fold < k; ++fold) {
        const auto [training, validation] = numbers(n) | reader::k_fold(k, fold, 3);
        const auto rest = read(training), held = read(validation);
        CHECK(rest.size() + held.size() == static_cast<std::size_t>(n));
        CHECK(std::abs(static_cast<int>(held.size()) * k - n) < k);
        CHECK(read(validation, 4) == held);
        for (const int x : held) CHECK(!std::binary_search(rest.begin(), rest.end(), x));
        all.insert(all.end(), held.begin(), held.end());
      }
      std::sort(all.begin(), all.end());
      CHECK(all == numbers(n));
    }
  const auto drawn = [](std::uint64_t seed) {
    const auto [training, validation] = numbers(1000) | reader::k_fold(5, 2, seed);
    return read(validation);
  };
  CHECK(drawn(1) != drawn(2));
  CHECK(drawn(1).size() == 200);
}

TEST_CASE("k_fold: a fold that is not there") {
  CHECK_THROWS_WITH(reader::k_fold(1, 0),
                    "lamina: reader::k_fold: expected at least 2 folds, found 1");
  CHECK_THROWS_WITH(reader::k_fold(5, 5),
                    "lamina: reader::k_fold: expected a fold from 0 to 4, found 5");
  CHECK_THROWS_AS(reader::k_fold(5, -1), lamina::error);
}
