// SPDX-License-Identifier: Apache-2.0
// Lines, fields, words and numbers of texts, their encodings, and where errors are.
#include <string>
#include <string_view>
#include <vector>

#include "dataset/data_archives.hpp"
#include <catch2/catch.hpp>

#include <lamina/dataset/text_member.hpp>

using namespace lamina::dataset;
using views = std::vector<std::string_view>;

namespace {

views words_in(std::string_view text) {
  views found;
  for_each_word(text, [&](std::string_view word) { found.push_back(word); });
  return found;
}
/// What is done with the lines of a text in an archive, where it begins at offset 100.
template <class Visit>
std::string message_of_lines(const std::string& text, Visit visit) {
  const text_member of{"a.tar", "text", text, 100};
  return test::message_of([&] { for_each_line(of, visit); });
}

}  // namespace

TEST_CASE("texts have lines, and lines have words") {
  const text_member of{"file", "", "one two\r\n\n last", 0};
  views lines;
  std::vector<std::size_t> numbers;
  for_each_line(of, [&](const text_line& line) {
    lines.push_back(line.text);
    numbers.push_back(line.number);
  });
  CHECK(lines == views{"one two\r", "", " last"});
  CHECK(numbers == std::vector<std::size_t>{1, 2, 3});
  CHECK(words_in(" a\tbc\v\f\r\n d ") == views{"a", "bc", "d"});
  CHECK(words_in("a\xc2\xa0z") == views{"a\xc2\xa0z"});  // no blank of ASCII
  CHECK(words_in(" \n").empty());
  CHECK(words_in("").empty());
  CHECK(trimmed(" \ta b\r\n") == "a b");
  CHECK(trimmed(" ").empty());
  for_each_line(text_member{"file", "", "", 0}, [](const text_line&) { FAIL("no line"); });
}

TEST_CASE("lines have fields") {
  const auto three = [](const text_line& line) {
    const auto fields = fields_of<3>(line, "::");
    CHECK(fields[0] == "1");
    CHECK(fields[1].empty());
    CHECK(fields[2] == ":x");  // from the left, as Python's split
  };
  CHECK(message_of_lines(" 1:::::x\r\n1:::::x", three) == "none");
  CHECK(message_of_lines("1:::::x\n1::2\n", three) ==
        "lamina: a.tar, offset 108: 'text': line 2: expected 3 fields with '::' between them, "
        "found 2");
  CHECK_THAT(message_of_lines("1::2::3::4", three), Catch::Contains("found 4"));
  CHECK_THAT(message_of_lines(" ", three), Catch::Contains("found an empty line"));
  const auto two = [](const text_line& line) { (void)fields_of<2>(line, "\t"); };
  CHECK_THAT(message_of_lines("a b", two), Catch::Contains("2 fields with a tab between them"));
}

TEST_CASE("fields are whole numbers") {
  const auto number = [](const text_line& line) {
    const std::int64_t age = whole_number(line, line.text, "an age", 1, 99);
    CHECK(age == 7);
  };
  CHECK(message_of_lines("7\n07", number) == "none");
  for (const std::string text : {"0", "100", "-7", "7.5", "x", " 7", "+7", "99999999999999999999"})
    CHECK_THAT(message_of_lines(text, number),
               Catch::Contains("offset 100: 'text': line 1: expected an age from 1 to 99, found '" +
                               text + "'"));
  CHECK_THAT(message_of_lines(std::string(50, '1'), number),
             Catch::EndsWith("'" + std::string(40, '1') + "...'"));
}

TEST_CASE("texts are UTF-8") {
  const auto message = [](const std::string& bytes) {
    return test::message_of([&] { text_member{"file", "", bytes, 0}.check_utf8(); });
  };
  CHECK(message("") == "none");
  CHECK(message("a\xc3\xa9\xe2\x82\xac\xf0\x9d\x84\x9e\x7f\n") == "none");
  CHECK(message("a\xe9") == "lamina: file, offset 1: expected UTF-8, found the byte 233");
  CHECK_THAT(message("ab\xc0\x80"), Catch::Contains("offset 2"));        // long form of zero
  CHECK_THAT(message("\xed\xa0\x80"), Catch::Contains("offset 0"));      // surrogate
  CHECK_THAT(message("\xf4\x90\x80\x80"), Catch::Contains("offset 0"));  // above U+10FFFF
  CHECK_THAT(message("x\xe2\x82"), Catch::Contains("offset 1"));         // cut
  CHECK_THAT(message("\xff\xfe"
                     "a"),
             Catch::Contains("found the byte 255"));  // UTF-16
  CHECK_THAT(message(std::string("a\0b\0", 4)),
             Catch::Contains("offset 1: expected UTF-8, found a byte of 0"));
  CHECK_THAT(message("\xef\xbb\xbf"
                     "a"),
             Catch::Contains("byte order mark"));
  CHECK(utf8_of_latin1("a\xe9\xff\x80") == "a\xc3\xa9\xc3\xbf\xc2\x80");
}

TEST_CASE("errors in compressed members name their begin") {
  const text_member packed{"a.zip", "text", "one\ntwo", 100, false};
  CHECK(test::message_of([&] { packed.fail(4, "wrong"); }) ==
        "lamina: a.zip, offset 100: 'text': wrong");
}
