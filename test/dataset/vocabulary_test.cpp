// SPDX-License-Identifier: Apache-2.0
// Words with ids in a given order, and the orders by frequency.
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include <lamina/dataset/vocabulary.hpp>
#include <lamina/dataset/word_counter.hpp>

using lamina::dataset::vocabulary;
using lamina::dataset::word_counter;
using words = std::vector<std::string>;

TEST_CASE("a vocabulary numbers words in their order") {
  const vocabulary v({"b", "<unk>", "a", "b"}, 1);
  CHECK(v.size() == 4);
  CHECK(v.id("a") == 2);
  CHECK(v.id("b") == 3);  // the later one, as Python's dict
  CHECK(v.id("c") == 1);
  CHECK(v.id("") == 1);
  CHECK(v.id("<unk>") == v.unknown());
  CHECK(v.contains("a"));
  CHECK_FALSE(v.contains("c"));
  CHECK(v.word(0) == "b");
  CHECK(v.words() == words{"b", "<unk>", "a", "b"});
  CHECK_THROWS_WITH(v.word(4), Catch::Contains("an id from 0 to 3, found 4"));
  CHECK_THROWS_WITH(v.word(-1), Catch::Contains("found -1"));
  CHECK_THROWS_WITH(vocabulary({"a"}, 1), Catch::Contains("among 1 words, found the id 1"));
  CHECK_THROWS_WITH(vocabulary({}, 0), Catch::Contains("among 0 words"));
}

TEST_CASE("frequent words come first, equally frequent ones in a defined order") {
  word_counter counts;
  for (const char* word : {"z", "b", "B", "\xc3\xa9", "a", "z", "b", "z", "<unk>", "<unk>"})
    counts.add(word);
  counts.add("often", 7);
  CHECK(counts.count("z") == 3);
  CHECK(counts.count("none") == 0);
  CHECK(counts.by_first_occurrence() == words{"often", "z", "b", "<unk>", "B", "\xc3\xa9", "a"});
  CHECK(counts.by_bytes(0) == words{"often", "z", "<unk>", "b", "B", "a", "\xc3\xa9"});
  CHECK(counts.by_bytes(2) == words{"often", "z"});  // more than twice
  const vocabulary v = frequent_words(counts, 1, "file");
  CHECK(v.words() == words{"often", "z", "b", "<unk>"});
  CHECK(v.unknown() == 3);
  try {
    frequent_words(counts, 7, "file");
    FAIL("7 times is not more than 7 times");
  } catch (const lamina::format_error& e) {
    CHECK(e.file() == "file");
    CHECK_THAT(e.what(), Catch::Contains("more than 7 times"));
  }
}
