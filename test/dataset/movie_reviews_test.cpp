// SPDX-License-Identifier: Apache-2.0
// Movie reviews: files, their twin, and damage.
#include <algorithm>
#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "dataset/temporary_file.hpp"
#include <catch2/catch.hpp>

#include <lamina/dataset/movie_reviews.hpp>
#include <lamina/reader/reader.hpp>

namespace reviews = lamina::dataset::movie_reviews;
using lamina::format_error;

namespace {

std::string sentence_of(const reviews::source& source, const reviews::sample& s) {
  std::string text;
  for (const std::int64_t id : s.words) text += (text.empty() ? "" : " ") + source.words().word(id);
  return text;
}

}  // namespace

TEST_CASE("movie reviews are read, shuffled and split", "[dataset]") {
  const test::temporary_directory folder;
  std::string good, bad;
  for (int i = 0; i < 50; ++i) {
    good += "good n" + std::to_string(i) + " \n";
    bad += "  bad\tn" + std::to_string(i) + (i == 49 ? "" : "\r\n");  // no end of the last line
  }
  folder.write("rt-polarity.pos", good);
  folder.write("rt-polarity.neg", bad);
  const auto source = reviews::read(folder.path(), 1000);
  const auto train = source.train(), test = source.test();
  REQUIRE(train.size() == 90);
  REQUIRE(test.size() == 10);
  std::set<std::string> seen;
  std::vector<std::int64_t> labels;
  for (const auto& s : train) {
    REQUIRE(s.words.size() == 2);
    CHECK(source.words().word(s.words[0]) == (s.label == 1 ? "good" : "bad"));
    seen.insert(sentence_of(source, s));
    labels.push_back(s.label);
  }
  CHECK(seen.size() == 90);
  const auto changes = [&] {
    int n = 0;
    for (std::size_t i = 1; i < labels.size(); ++i) n += labels[i] != labels[i - 1];
    return n;
  }();
  CHECK(changes > 25);  // of about 44 in a random order, 1 in the files' order
  for (const auto& s : test) {
    CHECK(source.words().word(s.words[0]) == (s.label == 1 ? "good" : "bad"));
    CHECK(s.words[1] < source.words().size());
  }
  const auto again = reviews::read(folder.path(), 1000);
  for (std::size_t i = 0; i < test.size(); ++i) {
    CHECK(again.test()[i].words == test[i].words);
    CHECK(again.test()[i].label == test[i].label);
  }
  for (const auto& s : reviews::read(folder.path(), 3).train())
    CHECK(s.words == std::vector<std::int64_t>{s.words[0], 0});
}

TEST_CASE("missing and damaged movie reviews", "[dataset]") {
  const test::temporary_directory folder;
  CHECK_THROWS_WITH(reviews::read(folder.path(), 100),
                    Catch::Contains("rt-polarity.pos") && Catch::Contains("cannot be opened"));
  const auto good = folder.write("rt-polarity.pos", "one two\nthree\n");
  CHECK_THROWS_WITH(reviews::read(folder.path(), 100), Catch::Contains("rt-polarity.neg"));
  const auto offset_of = [&](const std::string& bytes) {
    const auto path = folder.write("rt-polarity.neg", bytes);
    try {
      reviews::read(folder.path(), 100);
    } catch (const format_error& e) {
      CHECK(e.file() == path);
      return static_cast<int>(e.offset());
    }
    return -1;
  };
  CHECK(offset_of("four\nfive") == -1);
  CHECK(offset_of("caf\xe9 \x97 \n") == -1);
  CHECK(offset_of("") == 0);
  CHECK(offset_of("four\n\nfive\n") == 5);
  CHECK(offset_of("four\nfive\n \t\n") == 10);
  CHECK(offset_of(std::string("four\nfi\0ve\n", 11)) == 7);
  CHECK(offset_of("\x1f\x8b\x08 gzip\n") == 4);
  CHECK(offset_of("four\x7f\n") == 4);
  CHECK_THROWS_WITH(reviews::read(folder.path(), 1), Catch::Contains("control byte 127"));
  folder.write("rt-polarity.neg", "four\n");
  CHECK_THROWS_WITH(reviews::read(folder.path(), 1), Catch::Contains("size of at least 2"));
}

TEST_CASE("the real movie reviews", "[dataset]") {
  LAMINA_NEEDS_REAL_DATA("movie_reviews/rt-polarity.pos");
  const auto source = reviews::read(test::real_data() + "/movie_reviews", 5000);
  const auto train = source.train(), test = source.test();
  CHECK(train.size() == 9595);
  CHECK(test.size() == 1067);
  CHECK(source.words().size() == 5000);
  CHECK(source.words().word(1) == ".");
  CHECK(source.words().word(2) == "the");
  CHECK(source.words().word(3) == ",");
  std::int64_t praise = 0, highest = 0;
  std::size_t words = 0, longest = 0, unknown = 0;
  for (const auto& part : {train, test})
    for (const auto& s : part) {
      if (s.words.empty()) FAIL("a sentence without words");
      praise += s.label;
      words += s.words.size();
      longest = std::max(longest, s.words.size());
      for (const std::int64_t id : s.words) {
        highest = std::max(highest, id);
        unknown += id == 0;
      }
    }
  CHECK(praise == 5331);
  CHECK(words == 224041);  // bytes apart by blanks, counted by another program
  CHECK(highest == 4999);
  CHECK(longest > 50);
  CHECK(unknown > 15000);
  CHECK(unknown < 30000);
  std::int64_t held_out = 0;
  for (const auto& s : test) held_out += s.label;
  CHECK(held_out > 480);  // about as many of each
  CHECK(held_out < 587);
}

TEST_CASE("the twin of the movie reviews follows its own rule", "[dataset]") {
  const auto source = reviews::twin();
  const auto train = source.train(), test = source.test();
  REQUIRE(train.size() == reviews::twin_size * 9 / 10);
  REQUIRE(train.size() + test.size() == reviews::twin_size);
  CHECK(source.words().size() <= 64);
  const std::set<std::string> praise{"brilliant", "charming", "clever", "delightful", "funny",
                                     "moving",    "smart",    "superb", "touching",   "witty"};
  const std::set<std::string> blame{"awful",    "boring",  "clumsy", "dreadful", "dull",
                                    "lifeless", "shallow", "stale",  "tedious",  "tiresome"};
  int right = 0, without_order = 0, good = 0;
  std::size_t shortest = 100, longest = 0;
  for (const auto& part : {train, test})
    for (const auto& s : part) {
      std::vector<std::string> words;
      for (const std::int64_t id : s.words) {
        if (id <= 0) FAIL("an unknown word");
        words.push_back(source.words().word(id));
      }
      int found = 0, negations = 0;
      bool turned = false, praises = false;
      for (std::size_t i = 0; i < words.size(); ++i) {
        negations += words[i] == "not" || words[i] == "never";
        if (praise.count(words[i]) + blame.count(words[i]) == 0) continue;
        ++found;
        praises = praise.count(words[i]) == 1;
        turned = i > 0 && (words[i - 1] == "not" || words[i - 1] == "never");
      }
      if (found != 1 || negations > 1) FAIL("not one word that counts");
      right += (praises != turned) == (s.label == 1);
      without_order += (praises != (negations > 0)) == (s.label == 1);
      good += s.label == 1;
      shortest = std::min(shortest, words.size()), longest = std::max(longest, words.size());
    }
  CHECK(right == 2000);
  CHECK(without_order / 2000. == Approx(0.75).margin(0.03));
  CHECK(good / 2000. == Approx(0.5).margin(0.03));
  CHECK(shortest == 2);
  CHECK(longest == 14);
  CHECK(reviews::twin().test()[7].words == test[7].words);
}

TEST_CASE("movie reviews go through a reader", "[dataset]") {
  auto batches =
      reviews::twin().train() | lamina::reader::shuffle(2000) | lamina::reader::batch(50);
  int n = 0;
  for (auto&& batch : lamina::reader::begin_pass(batches)) {
    CHECK(batch.size() == 50);
    CHECK(!batch[49].words.empty());
    ++n;
  }
  CHECK(n == 36);
}
