// SPDX-License-Identifier: Apache-2.0
// Characters of UTF-8: their lengths, what is none, and Latin-1 as UTF-8.
#include <string>
#include <string_view>

#include <catch2/catch.hpp>

#include <lamina/dataset/utf8.hpp>

namespace dataset = lamina::dataset;
using namespace std::string_view_literals;

TEST_CASE("a character of UTF-8 has one to four bytes") {
  CHECK(dataset::utf8_length("a", 0) == 1);
  CHECK(dataset::utf8_length("\0"sv, 0) == 1);
  CHECK(dataset::utf8_length("\xC3\xA9", 0) == 2);
  CHECK(dataset::utf8_length("\xE2\x82\xAC", 0) == 3);
  CHECK(dataset::utf8_length("\xF0\x9F\x98\x80", 0) == 4);
  CHECK(dataset::utf8_length("\xF4\x8F\xBF\xBF", 0) == 4);  // U+10FFFF
  CHECK(dataset::utf8_length("a\xC3\xA9", 1) == 2);
}

TEST_CASE("bytes that are no character of UTF-8") {
  for (const std::string_view none :
       {"\x80"sv, "\xC3"sv, "\xC0\x80"sv, "\xC1\xBF"sv, "\xE0\x9F\xBF"sv, "\xED\xA0\x80"sv,
        "\xE2\x82"sv, "\xF0\x8F\xBF\xBF"sv, "\xF4\x90\x80\x80"sv, "\xF0\x9F\x98"sv,
        "\xF5\x80\x80\x80"sv, "\xFF"sv})
    CHECK(dataset::utf8_length(none, 0) == 0);
  CHECK(dataset::utf8_end("ab\xC3\xA9") == 4);
  CHECK(dataset::utf8_end("ab\xC3") == 2);
  CHECK(dataset::utf8_end("") == 0);
}

TEST_CASE("each byte of Latin-1 is a character of UTF-8") {
  CHECK(dataset::utf8_of_latin1("caf\xE9 \x7F\x80\xFF") == "caf\xC3\xA9 \x7F\xC2\x80\xC3\xBF");
  std::string all;
  for (int c = 0; c < 256; ++c) all += static_cast<char>(c);
  const std::string found = dataset::utf8_of_latin1(all);
  CHECK(found.size() == 384);
  CHECK(dataset::utf8_end(found) == found.size());
}
