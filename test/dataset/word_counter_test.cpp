// SPDX-License-Identifier: Apache-2.0
// How often words occur, and their order.
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include <lamina/dataset/word_counter.hpp>

using lamina::dataset::word_counter;
using words = std::vector<std::string>;

TEST_CASE("frequent words come first, equal ones by their bytes or by their first occurrence") {
  word_counter counts;
  for (const char* word : {"b", "z", "a", "z", "a", "B"}) counts.add(word);
  counts.add("z", 3);
  CHECK(counts.count("z") == 5);
  CHECK(counts.count("a") == 2);
  CHECK(counts.count("none") == 0);
  CHECK(counts.by_bytes(0) == words{"z", "a", "B", "b"});
  CHECK(counts.by_first_occurrence() == words{"z", "a", "b", "B"});
}

TEST_CASE("a cutoff leaves out the words that occur no more often") {
  word_counter counts;
  counts.add("once");
  counts.add("thrice", 3);
  counts.add("<unk>", 9);
  CHECK(counts.by_bytes(1) == words{"<unk>", "thrice"});
  CHECK(counts.by_bytes(1, "<unk>") == words{"thrice"});
  CHECK(counts.by_bytes(9).empty());
}

TEST_CASE("frequent words of a file end with the unknown word") {
  word_counter counts;
  counts.add("the", 4);
  counts.add("rare");
  const auto all = lamina::dataset::frequent_words(counts, 1, "words.txt");
  CHECK(all.size() == 2);
  CHECK_THROWS_AS(lamina::dataset::frequent_words(counts, 4, "words.txt"), lamina::format_error);
}
