// SPDX-License-Identifier: Apache-2.0
// A misspelt word has a nearest one.
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include <lamina/core/messages/nearest_word.hpp>

using lamina::letter_distance;
using lamina::nearest_word;

TEST_CASE("the distance of words is the number of letters to change, add or leave out") {
  CHECK(letter_distance("", "") == 0);
  CHECK(letter_distance("", "abc") == 3);
  CHECK(letter_distance("abc", "") == 3);
  CHECK(letter_distance("kitten", "sitting") == 3);
  CHECK(letter_distance("flaw", "lawn") == 2);
  CHECK(letter_distance("saturday", "sunday") == 3);
  CHECK(letter_distance("same", "same") == 0);
}

TEST_CASE("the nearest word begins with the given one, or has the least distance") {
  const std::vector<std::string_view> flags = {"save_dir", "save_only_one", "saving_period", "seed",
                                               "show_parameter_stats_period"};
  CHECK(nearest_word("save_dri", flags) == "save_dir");
  CHECK(nearest_word("savedir", flags) == "save_dir");
  CHECK(nearest_word("show", flags) == "show_parameter_stats_period");
  CHECK(nearest_word("sav", flags) == "save_dir");  // the shortest of three
  CHECK(nearest_word("sede", flags) == "seed");
  CHECK(nearest_word("seed", flags) == "seed");
  CHECK(nearest_word("", flags) == "seed");  // four letters to add, the fewest
  CHECK(nearest_word("anything", {}).empty());
  CHECK(nearest_word("ab", {"b", "a"}) == "b");  // the first of two that are as near
  CHECK(nearest_word("a", {""}).empty());
}

TEST_CASE("the words that are near, for a message") {
  const std::vector<std::string> names{"fc_0.b_0", "fc_0.tmp_0", "fc_0.w_0", "image", "label"};
  CHECK(lamina::nearest_words("lable", names) == ", nearest is 'label'");
  CHECK(lamina::nearest_words("fc_0.w_1", names) == ", nearest are 'fc_0.w_0' and 'fc_0.b_0'");
  CHECK(lamina::nearest_words("fc_0", names) ==
        ", nearest are 'fc_0.b_0', 'fc_0.tmp_0' and 'fc_0.w_0'");
  CHECK(lamina::nearest_words("probabilities", names).empty());
  CHECK(lamina::nearest_words("", {}).empty());
}
