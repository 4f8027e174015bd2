// SPDX-License-Identifier: Apache-2.0
// Words as numbers: the most frequent words first.
#include <cstdint>
#include <string>
#include <vector>

#include "dataset/temporary_file.hpp"
#include <catch2/catch.hpp>

#include <lamina/dataset/dictionary.hpp>
#include <lamina/dataset/movie_reviews.hpp>

namespace reviews = lamina::dataset::movie_reviews;
using lamina::dataset::dictionary;

namespace {

std::string repeated(const std::string& line, int times) {
  std::string all;
  for (int i = 0; i < times; ++i) all += line;
  return all;
}

}  // namespace

TEST_CASE("a dictionary has the most frequent words, ties by the alphabet", "[dataset]") {
  lamina::dataset::word_counts counts;
  for (const char* word : {"b", "z", "a", "z", "d", "c", "d", "z", "\xe9"})
    lamina::dataset::count_word(counts, word);
  CHECK(counts.at("z") == 3);
  const dictionary all(counts, 100);
  REQUIRE(all.size() == 7);
  CHECK(all.word(0) == "<unk>");
  const std::vector<std::string> order{"z", "d", "a", "b", "c", "\xe9"};
  for (std::size_t i = 0; i < order.size(); ++i) {
    CHECK(all.word(static_cast<std::int64_t>(i + 1)) == order[i]);
    CHECK(all.id(order[i]) == static_cast<std::int64_t>(i + 1));
  }
  CHECK(all.id("y") == 0);
  CHECK(all.id("") == 0);
  const dictionary some(counts, 4);
  CHECK(some.size() == 4);
  CHECK(some.id("a") == 3);
  CHECK(some.id("b") == 0);
  CHECK_THROWS_WITH(some.word(4), Catch::Contains("from 0 to 3, found 4"));
  CHECK_THROWS_WITH(some.word(-1), Catch::Contains("found -1"));
  CHECK_THROWS_WITH(dictionary(counts, 1),
                    Catch::Contains("at least 2") && Catch::Contains("found 1"));
}

TEST_CASE("words of the sentences to test with do not come into the dictionary", "[dataset]") {
  const test::temporary_directory folder;
  std::string lines;
  for (int i = 0; i < 100; ++i) lines += "only" + std::to_string(i) + "\n";
  folder.write("rt-polarity.pos", lines);
  folder.write("rt-polarity.neg", repeated("same\n", 100));
  const auto source = reviews::read(folder.path(), 1000);
  std::size_t unknown = 0, own = 0;
  for (const auto& s : source.test()) unknown += s.words[0] == 0, own += s.label == 1;
  CHECK(own > 0);
  CHECK(unknown == own);
  for (const auto& s : source.train()) CHECK(s.words[0] != 0);
  CHECK(source.words().size() == static_cast<std::int64_t>(2 + 100 - own));
}
