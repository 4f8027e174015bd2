// SPDX-License-Identifier: Apache-2.0
// test/dataset/column_encoding_test.cpp - columns of text, and their normalisation in a file.
#include <array>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "dataset/temporary_file.hpp"
#include <catch2/catch.hpp>

#include <lamina/core/messages/error.hpp>
#include <lamina/dataset/column_encoding.hpp>
#include <lamina/dataset/csv.hpp>
#include <lamina/dataset/csv_rows.hpp>

using Catch::Contains;
using lamina::dataset::column_encoding;
using lamina::dataset::csv_header;
using lamina::dataset::csv_options;
using lamina::dataset::read_csv_rows;

namespace {

auto parse(const std::string& text, csv_options options = {}) {
  const test::temporary_directory folder;
  return read_csv_rows(folder.write("file.csv", text), options);
}
std::string bytes_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

constexpr const char* people =
    "age,income,city,label\n"
    "20,1000.1,Rome,1\n"
    "30,,\"Paris, \"\"east\"\"\",0\n"
    "40,3000.7,Rome,1\n"
    "50,1e-300,\"New\nYork\",0\n"
    "10000,9e9,Oslo,1\n";  // not to be trained with

column_encoding people_encoding() {
  column_encoding encoding;
  encoding.add_number("age").add_number("income", {.missing_is_mean = true});
  encoding.add_category("city", {.unseen = 1}).add_category("label");
  return encoding;
}

}  // namespace

TEST_CASE("rows of words and numbers, by name and by column", "[dataset]") {
  const auto rows = parse(people);
  REQUIRE(rows.size() == 5);
  CHECK(rows[0]["city"] == "Rome");
  CHECK(rows[1]["city"] == "Paris, \"east\"");
  CHECK(rows[3]["city"] == "New\nYork");
  CHECK(rows[4][0] == "10000");
  CHECK(rows[4].size() == 4);
  CHECK(rows[3].number("income") == 1e-300);
  CHECK(rows.slice(2, 4)[1].number("age") == 50);
  int count = 0;
  for (const auto& row : rows) count += row["label"] == "1";
  CHECK(count == 3);
  // Marks of other programs: a byte order mark, CRLF, a semicolon with a decimal comma.
  CHECK(parse("\xef\xbb\xbf"
              "a,b\r\n1,x\r\n")[0]["a"] == "1");
  const csv_options comma{.separator = ';', .decimal = ','};
  CHECK(parse("a;b\n-1,5;x\n", comma)[0].number("a") == -1.5);
  const test::temporary_directory folder;
  CHECK(lamina::dataset::read_csv(folder.write("n.csv", "1,5;2\n3;,25\n"), comma).values ==
        std::vector<double>{1.5, 2, 3, .25});
}
TEST_CASE("mistakes in rows name file, line and column", "[dataset]") {
  const auto rows = parse(people);
  CHECK_THROWS_WITH(rows[0]["City"], Contains("expected a column \"City\", found \"age\", "
                                              "\"income\", \"city\", \"label\""));
  CHECK_THROWS_WITH(rows[0][4], Contains("expected a column below 4, found 4"));
  CHECK_THROWS_WITH(rows[1].number("income"),
                    Contains("line 3: expected a finite number in column \"income\", found \"\""));
  // The line counts ends of lines in fields.
  CHECK_THROWS_WITH(rows[4].number("city"), Contains("line 7:"));
  CHECK_THROWS_WITH(parse("x\n\"open\nand open\n"), Contains("line 2: expected a closing quote"));
  CHECK_THROWS_WITH(parse("a,b\n1\n"), Contains("expected 2 fields, found 1"));
  CHECK_THROWS_WITH(parse("a,b,a\nx,y,z\n"), Contains("found \"a\" twice"));
  CHECK_THROWS_WITH(parse("a,b\n"), Contains("expected at least one row"));
  CHECK_THROWS_WITH(parse(std::string("\xff\xfe"
                                      "a\0",
                                      4)),
                    Contains("found UTF-16"));
  CHECK_THROWS_WITH(parse("Rome,7\n"), Contains("say csv_header::present or csv_header::absent"));
  CHECK_THROWS_WITH(parse("Rome,7\n", {.header = csv_header::absent})[0]["city"],
                    Contains("found a file without a header"));
  CHECK_THROWS_WITH(parse("a;b\n1.000,5;x\n", {.separator = ';', .decimal = ','})[0].number("a"),
                    Contains("found \"1.000,5\""));
  CHECK_THROWS_WITH(parse("a\n1\n", {.decimal = ','}), Contains("found ',' for both"));
}
TEST_CASE("an encoding knows the rows to train with alone", "[dataset]") {
  const auto rows = parse(people);
  column_encoding encoding = people_encoding();
  encoding.fit(rows.slice(0, 4));
  CHECK(encoding.mean("age") == 35);
  CHECK(encoding.deviation("age") == Approx(std::sqrt(125.)));
  CHECK(encoding.mean("income") == Approx(4000.8 / 3));
  const std::array<float, 2> first = encoding.numbers<2>(rows[0]),
                             second = encoding.numbers<2>(rows[1]);
  CHECK(first[0] == Approx(-15 / std::sqrt(125.)));
  CHECK(first[0] == encoding.number("age", 20));
  CHECK(second[1] == 0);
  // Sorted: "New\nYork", "Paris..", "Rome"; id 1 is left for others.
  CHECK(encoding.ids<2>(rows[0]) == std::array<std::int64_t, 2>{3, 1});
  CHECK(encoding.ids<2>(rows[1]) == std::array<std::int64_t, 2>{2, 0});
  CHECK(encoding.ids<2>(rows[4]) == std::array<std::int64_t, 2>{1, 1});
  CHECK(encoding.id("city", "New\nYork") == 0);
  CHECK(encoding.size("city") == 4);
  CHECK(encoding.size("label") == 2);
  for (const std::int64_t id : {0, 2, 3})
    CHECK(encoding.id("city", encoding.word("city", id)) == id);
  CHECK_THROWS_WITH(encoding.word("city", 1), Contains("expected the id of a word, found 1"));
  CHECK_THROWS_WITH(encoding.id("label", "2"),
                    "lamina: dataset::column_encoding: column \"label\": expected a word of the "
                    "rows to train with, found \"2\"");
  // An id far behind the words.
  column_encoding distant;
  distant.add_category("city", {.unseen = 100}).fit(rows);
  CHECK(distant.size("city") == 101);
  CHECK(distant.id("city", "Rome") == 3);
  CHECK(distant.id("city", "Kiel") == 100);
  // The order of rows does not change ids; a second fit forgets the first.
  encoding.fit(parse("age,income,city,label\n7,7,b,1\n7,7,a,0\n"));
  CHECK(encoding.id("city", "a") == 0);
  CHECK(encoding.id("city", "b") == 2);
  CHECK(encoding.id("city", "Rome") == 1);
  CHECK(encoding.deviation("age") == 1);
  CHECK(encoding.number("age", 7) == 0);
}
TEST_CASE("a saved encoding gives the same bits", "[dataset]") {
  const test::temporary_directory folder;
  const std::string path = folder.path() + "/columns.csv", again = folder.path() + "/again.csv";
  const auto rows = parse(people);
  column_encoding encoding = people_encoding();
  encoding.fit(rows);
  encoding.save(path);
  const column_encoding loaded = column_encoding::load(path);
  for (const auto& row : rows) {
    const auto a = encoding.numbers<2>(row), b = loaded.numbers<2>(row);
    CHECK(std::memcmp(a.data(), b.data(), sizeof a) == 0);
    CHECK(encoding.ids<2>(row) == loaded.ids<2>(row));
  }
  CHECK(loaded.id("city", "Kiel") == 1);
  CHECK_THROWS(loaded.id("label", "Kiel"));
  loaded.save(again);
  CHECK(bytes_of(path) == bytes_of(again));
  // Any CSV reader opens the file.
  CHECK(read_csv_rows(path)[1]["key"] == "mean");

  // Cut short anywhere, or with one bit changed, it is an error, or the same to the last bit where
  // only the last end of line is damaged.
  const std::string good = bytes_of(path);
  int refused = 0;
  const auto damaged = [&](const std::string& bytes) {
    try {
      column_encoding::load(folder.write("bad.csv", bytes)).save(again);
      CHECK(bytes_of(again) == good);
    } catch (const lamina::format_error& e) {
      CHECK(e.file() == folder.path() + "/bad.csv");
      ++refused;
    }
  };
  for (std::size_t n = 0; n < good.size(); ++n) damaged(good.substr(0, n));
  CHECK(refused == static_cast<int>(good.size()) - 1);
  refused = 0;
  for (std::size_t i = 0; i < good.size(); ++i) {
    std::string bytes = good;
    bytes[i] = static_cast<char>(bytes[i] ^ (1 << i % 8));
    damaged(bytes);
  }
  CHECK(refused >= static_cast<int>(good.size()) - 1);
}
TEST_CASE("mistakes with encodings", "[dataset]") {
  const auto rows = parse(people);
  column_encoding encoding = people_encoding();
  CHECK_THROWS_WITH(encoding.numbers<2>(rows[0]), Contains("expected fit() or load() before"));
  CHECK_THROWS_WITH(encoding.save("/nonexistent/x"), Contains("expected fit() or load() before"));
  CHECK_THROWS_WITH(encoding.add_number("age"), Contains("\"age\": expected a new name"));
  CHECK_THROWS_WITH(encoding.add_category("x", {.unseen = -1}),
                    Contains("expected an id of 0 or more for words that are not seen, found -1"));
  CHECK_THROWS_WITH(encoding.fit(rows.slice(0, 0)), Contains("expected a column and a row"));
  encoding.fit(rows);
  CHECK_THROWS_WITH(encoding.numbers<3>(rows[0]),
                    Contains("expected 2 columns of numbers, found 3"));
  CHECK_THROWS_WITH(encoding.ids<1>(rows[0]), Contains("expected 2 columns of words, found 1"));
  CHECK_THROWS_WITH(encoding.number("city", 1), Contains("\"city\": expected a column of numbers"));
  CHECK_THROWS_WITH(encoding.ids<2>(parse("age,income,city,label\n1,1,Rome,7\n")[0]),
                    Contains("line 2: column \"label\": expected a word of the rows to train with, "
                             "found \"7\""));
  // A fit that fails leaves the encoding as it was.
  const double mean = encoding.mean("age");
  CHECK_THROWS_WITH(encoding.fit(parse("age,income,city,label\n1,1,a,b\nx,1,a,b\n")),
                    Contains("line 3: expected a finite number in column \"age\", found \"x\""));
  CHECK_THROWS_WITH(encoding.fit(parse("age,income,city,label\n1,,a,b\n")),
                    Contains("\"income\": expected a number in some row"));
  CHECK_THROWS_WITH(encoding.fit(parse("age,income,city,label\n1e300,1,a,b\n-1e300,1,a,b\n")),
                    Contains("expected numbers whose variance a double can hold"));
  CHECK(encoding.mean("age") == mean);
  const test::temporary_directory folder;
  for (const char* foreign : {"", "a,b\n1,2\n", "column,kind,key,value\n"})
    CHECK_THROWS_AS(column_encoding::load(folder.write("f.csv", foreign)), lamina::format_error);
}
