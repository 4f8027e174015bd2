// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "dataset/temporary_file.hpp"
#include <catch2/catch.hpp>

#include <lamina/dataset/text.hpp>

namespace characters = lamina::dataset::text;
using lamina::format_error;
using ids = std::vector<std::int64_t>;

namespace {

std::string spelled(const characters::source& source, const ids& text) {
  std::string all;
  for (const std::int64_t id : text) all += source.alphabet().word(id);
  return all;
}

}  // namespace

TEST_CASE("a text becomes pieces of characters with those that follow", "[dataset]") {
  const test::temporary_directory folder;
  const auto path = folder.write("text", "aababcaabx");
  const auto source = characters::read(path, {.held_out = 0.2});
  CHECK(source.train_size() == 8);
  REQUIRE(source.ids().size() == 10);
  CHECK(source.alphabet().size() == 4);  // a, b, c and the unknown
  CHECK(source.ids() == std::vector<std::int32_t>{1, 1, 2, 1, 2, 3, 1, 1, 2, 0});
  const auto train = source.train(3), test = source.test(3);
  REQUIRE(train.size() == 3);
  CHECK(spelled(source, train[0].ids) == "aab");
  CHECK(spelled(source, train[0].next) == "aba");
  CHECK(spelled(source, train[1].ids) == "abc");
  CHECK(spelled(source, train[1].next) == "bca");
  CHECK(spelled(source, train[2].ids) == "a");  // the last character has none that follows
  CHECK(spelled(source, train[2].next) == "a");
  REQUIRE(test.size() == 1);
  CHECK(test[0].ids == ids{2});
  CHECK(test[0].next == ids{0});
  CHECK(source.train(7).size() == 1);
  CHECK(source.train(100)[0].next.size() == 7);
  CHECK_THROWS_WITH(source.train(0), Catch::Contains("at least 1 element"));
  CHECK_THROWS_AS(train[3], lamina::error);
}

TEST_CASE("how a text is cut", "[dataset]") {
  const test::temporary_directory folder;
  const auto path = folder.write("text", "abcdefghij");
  const auto whole = characters::read(path, {.held_out = 0});
  CHECK(whole.train_size() == 10);
  CHECK(whole.test(5).empty());
  const auto one = characters::read(path);
  CHECK(one.train_size() == 9);
  CHECK(one.test(5).empty());  // one character has none that follows
  CHECK(characters::read(path, {.held_out = 0.96}).train(5).empty());
  const auto few = characters::read(path, {.alphabet_size = 3, .held_out = 0.5});
  CHECK(few.ids() == std::vector<std::int32_t>{1, 2, 0, 0, 0, 0, 0, 0, 0, 0});
  CHECK_THROWS_WITH(characters::read(path, {.alphabet_size = 1}), Catch::Contains("at least 2"));
  for (const double part : {-0.1, 1.0, std::numeric_limits<double>::quiet_NaN()})
    CHECK_THROWS_WITH(characters::read(path, {.held_out = part}), Catch::Contains("held-out"));
}

TEST_CASE("characters are those of UTF-8", "[dataset]") {
  const test::temporary_directory folder;
  const std::vector<std::string> each{
      "a", "\xc3\xa9", "\xe2\x82\xac", "\xf0\x9f\x98\x80", "\xed\x9f\xbf", "\xf4\x8f\xbf\xbf",
      "\n"};
  std::string all;
  for (const auto& c : each) all += c;
  const auto source = characters::read(folder.write("text", all), {.held_out = 0});
  REQUIRE(source.ids().size() == each.size());
  for (std::size_t i = 0; i < each.size(); ++i)
    CHECK(source.alphabet().word(source.ids()[i]) == each[i]);
}

TEST_CASE("the words of a text", "[dataset]") {
  const auto words = [](std::string_view text) {
    const auto source = characters::parse(
        text, {.alphabet_size = 100, .held_out = 0, .elements = characters::unit::word});
    std::vector<std::string> all;
    for (const std::int32_t id : source.ids()) all.push_back(source.alphabet().word(id));
    return all;
  };
  using list = std::vector<std::string>;
  CHECK(words("The cat sat.\nThe end") == list{"The", "cat", "sat", ".", "\n", "The", "end"});
  CHECK(words("  a\t\r b ") == list{"a", "b"});
  CHECK(words("'tis don't, dogs' '' x''y'z'") ==
        list{"'tis", "don't", ",", "dogs", "'", "'", "'", "x", "'", "'y'z", "'"});
  CHECK(words("3.14 = x_1--") == list{"3", ".", "14", "=", "x", "_", "1", "-", "-"});
  // e with an accent, Greek, an emoji; quotation marks, an apostrophe, a dash; blanks.
  CHECK(words("\xc3\xa9t\xc3\xa9 \xce\xbb\xcf\x8c \xf0\x9f\x98\x80") ==
        list{"\xc3\xa9t\xc3\xa9", "\xce\xbb\xcf\x8c", "\xf0\x9f\x98\x80"});
  CHECK(words("\xe2\x80\x9c"
              "don\xe2\x80\x99t\xe2\x80\x9d\xe2\x80\x94no") ==
        list{"\xe2\x80\x9c", "don\xe2\x80\x99t", "\xe2\x80\x9d", "\xe2\x80\x94", "no"});
  CHECK(words("a\xc2\xa0"
              "b\xe3\x80\x80"
              "c\xc2\xbf") == list{"a", "b", "c", "\xc2\xbf"});
  CHECK_THROWS_WITH(words(" one "), Catch::Contains("at least 2 words, found 1"));
  CHECK_THROWS_WITH(words(" \t"), Catch::Contains("at least 2 words, found 0"));
  CHECK_THROWS_WITH(words("a b\xff"), Catch::Contains("byte 255"));
}

TEST_CASE("a text in memory and in a file are the same", "[dataset]") {
  const test::temporary_directory folder;
  const std::string all = "to be, or not to be";
  for (const auto elements : {characters::unit::character, characters::unit::word}) {
    const characters::options how{.alphabet_size = 5, .held_out = 0.3, .elements = elements};
    const auto here = characters::parse(all, how);
    const auto there = characters::read(folder.write("text", all), how);
    CHECK(here.ids() == there.ids());
    CHECK(here.train_size() == there.train_size());
    CHECK(here.train_size() == (elements == characters::unit::word ? 5 : 13));
    CHECK(here.alphabet().size() == 5);
  }
}

TEST_CASE("missing and damaged texts", "[dataset]") {
  const test::temporary_directory folder;
  CHECK_THROWS_WITH(characters::read(folder.path() + "/none"),
                    Catch::Contains("/none") && Catch::Contains("cannot be opened"));
  const auto offset_of = [&](const std::string& bytes) {
    const auto path = folder.write("text", bytes);
    try {
      characters::read(path);
    } catch (const format_error& e) {
      CHECK(e.file() == path);
      return static_cast<int>(e.offset());
    }
    return -1;
  };
  CHECK(offset_of("ab") == -1);
  CHECK(offset_of("") == 0);
  CHECK(offset_of("a") == 1);
  CHECK(offset_of("ab\x80") == 2);              // goes on without a beginning
  CHECK(offset_of("ab\xc3") == 2);              // cut short
  CHECK(offset_of("ab\xe2\x82") == 2);          // cut short
  CHECK(offset_of("ab\xf0\x9f\x98") == 2);      // cut short
  CHECK(offset_of("ab\xe9t\xe9") == 2);         // latin-1
  CHECK(offset_of("ab\xc0\xaf") == 2);          // a long form
  CHECK(offset_of("ab\xe0\x80\xaf") == 2);      // a long form
  CHECK(offset_of("ab\xf0\x80\x80\xaf") == 2);  // a long form
  CHECK(offset_of("ab\xed\xa0\x80") == 2);      // half a pair
  CHECK(offset_of("ab\xf4\x90\x80\x80") == 2);  // above U+10FFFF
  CHECK(offset_of("ab\xff") == 2);
  CHECK_THROWS_WITH(characters::read(folder.write("text", "ab\xff")),
                    Catch::Contains("found the byte 255"));
}

TEST_CASE("a real text", "[dataset]") {
  LAMINA_NEEDS_REAL_DATA("text/tinyshakespeare.txt");
  const auto source = characters::read(test::real_data() + "/text/tinyshakespeare.txt");
  CHECK(source.ids().size() == 1115394);
  CHECK(source.train_size() == 1115394 - 111539);
  CHECK(source.alphabet().size() == 66);
  CHECK(source.alphabet().word(1) == " ");
  CHECK(source.alphabet().word(2) == "e");
  const auto train = source.train(100);
  REQUIRE(train.size() == 10039);
  CHECK(spelled(source, train[0].ids).substr(0, 15) == "First Citizen:\n");
  std::size_t all = 0;
  for (const auto& s : source.test(100)) all += s.next.size();
  CHECK(all == 111538);

  // 202,651 words between blanks, and 40,000 lines; signs are words of their own here.
  const auto words = characters::read(test::real_data() + "/text/tinyshakespeare.txt",
                                      {.alphabet_size = 20000, .elements = characters::unit::word});
  CHECK(words.alphabet().word(1) == "\n");
  CHECK(words.alphabet().word(2) == ",");
  std::int64_t lines = 0;
  for (const std::int32_t id : words.ids()) lines += id == 1;
  CHECK(lines == 40000);
  CHECK(words.alphabet().id("First") > 0);
  CHECK(words.alphabet().id("know't") > 0);
}
