// SPDX-License-Identifier: Apache-2.0
#include <cerrno>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "dataset/temporary_file.hpp"
#include <catch2/catch.hpp>

#include <lamina/dataset/csv.hpp>

using lamina::format_error;
using lamina::dataset::csv_header;
using lamina::dataset::csv_options;
using lamina::dataset::csv_table;

namespace {

csv_table parse(const std::string& text, csv_options options = {}) {
  const test::temporary_directory folder;
  return lamina::dataset::read_csv(folder.write("file.csv", text), options);
}

// Expects a format_error at this offset whose text has this line number and these words.
void check_fault(const std::string& text, std::uint64_t offset, int line, const std::string& words,
                 csv_options options = {}) {
  INFO(text);
  try {
    parse(text, options);
    FAIL("no format_error");
  } catch (const format_error& e) {
    CHECK(e.offset() == offset);
    CHECK_THAT(e.what(), Catch::Contains("line " + std::to_string(line) + ":"));
    CHECK_THAT(e.what(), Catch::Contains(words));
  }
}

}  // namespace

TEST_CASE("CSV with and without header, quotes and line ends", "[dataset]") {
  const std::vector<double> values{1, -2.5, 3e4, .5};
  using names = std::vector<std::string>;
  for (const char* text : {"1,-2.5\n3e4,.5\n", "1,-2.5\r\n3e4,.5", "\"1\", -2.5 \n+3e4,\"0.5\"\r\n",
                           "\xef\xbb\xbf"
                           "1,-2.5\n3e4,.5\n"}) {
    const auto table = parse(text);
    CHECK(table.names.empty());
    CHECK(table.rows() == 2);
    CHECK(table.columns() == 2);
    CHECK(table.values == values);
  }
  const auto headed = parse("\"a \"\"b\"\", c\",d\n1,-2.5\n3e4,.5\n");
  CHECK(headed.names == names{"a \"b\", c", "d"});
  CHECK(headed.values == values);
  CHECK(headed(1, 0) == 3e4);
  CHECK(parse("1;2\n3;4\n", {.separator = ';'}).values == std::vector<double>{1, 2, 3, 4});
  CHECK(parse("1,2\n3,4\n", {.header = csv_header::present}).names == names{"1", "2"});
  CHECK(parse("7").values == std::vector<double>{7});
}

// Sources: gnudatalanguage/gdl#2164, Rdatatable/data.table#2526.
TEST_CASE("foreign files: CSV of a first line that is half a header, of tiny numbers, in gzip",
          "[dataset]") {
  for (const char* text : {"1,,3\n4,5,6\n", "id,2019\n1,2\n", ",1\n2,3\n", "1,NA\n2,3\n"})
    check_fault(text, 0, 1, "say csv_header::present or csv_header::absent");
  CHECK(parse("id,2019\n1,2\n", {.header = csv_header::present}).names ==
        std::vector<std::string>{"id", "2019"});
  check_fault("1,,3\n4,5,6\n", 2, 1, "column 2, found \"\"", {.header = csv_header::absent});
  CHECK(parse("a,,c\n1,2,3\n").names == std::vector<std::string>{"a", "", "c"});
  for (const char* text : {"1e-400", "0.0000001e-999999999999999999999", "1234567890123e-345",
                           "0.1E-330", "1e-99999"}) {
    INFO(text);
    const auto found = parse(std::string(text) + ",-" + text + "\n");
    CHECK(found.values == std::vector<double>{0, 0});
    CHECK(std::signbit(found.values[1]));
  }
  CHECK(parse("5e-324,2.5e-310\n").values == std::vector<double>{5e-324, 2.5e-310});
  // Exponents that 64 bits hold, and their sum with the place of the first digit would not.
  for (const char* text : {"0.001e-9223372036854775807", "10e-9223372036854775808", "0e999999999"})
    CHECK(parse(std::string(text) + "\n").values == std::vector<double>{0});
  for (const char* text : {"10e9223372036854775807", "1000e9223372036854775806"})
    check_fault(std::string(text) + "\n", 0, 1, "that a double can hold");
  for (const char* text :
       {"1e400", "123456e304", "0.001e312", "1e+99999", "1e99999999999999999999"})
    check_fault(std::string(text) + "\n", 0, 1, "that a double can hold");
#if LAMINA_HAS_ZLIB
  const test::temporary_directory folder;
  const std::string path = folder.path() + "/file.csv.gz";
  const gzFile out = ::gzopen(path.c_str(), "wb");
  ::gzputs(out, "a,b\n1,2\n3,4\n");
  ::gzclose(out);
  CHECK(lamina::dataset::read_csv(path).values == std::vector<double>{1, 2, 3, 4});
#endif
}

// Source: swiftcsv/SwiftCSV#51.
TEST_CASE("foreign files: CSV with empty lines behind the last row", "[dataset]") {
  for (const char* text : {"a,b\n1,2\n3,4\n\n", "1,2\r\n3,4\r\n\r\n\r\n", "1,2\n3,4\r\n\n\n"})
    CHECK(parse(text).values == std::vector<double>{1, 2, 3, 4});
  CHECK(parse("1\n2\n\n").values == std::vector<double>{1, 2});
  check_fault("1\n\n2\n\n", 2, 2, "column 1, found \"\"");
  check_fault("1,2\n3,\n\n", 6, 2, "column 2, found \"\"");
  CHECK_THROWS_AS(parse("\n\n"), lamina::format_error);
  CHECK_THROWS_AS(parse("a,b\n\n"), lamina::format_error);
}

TEST_CASE("CSV errors name offset and line", "[dataset]") {
  check_fault("a,b\n1,2\n3\n", 8, 3, "expected 2 fields, found 1");
  check_fault("a,b\n1,2\n3,4,5\n", 8, 3, "expected 2 fields, found 3");
  check_fault("a,b\n1,2\n\n3,4\n", 8, 3, "expected 2 fields, found 1");
  check_fault("a,b\n1,x\n", 6, 2, "column 2, found \"x\"");
  check_fault("a,b\n1,\n", 6, 2, "column 2, found \"\"");
  check_fault("a,b\n1,2 3\n", 6, 2, "found \"2 3\"");
  check_fault("a,b\n1,0x10\n", 6, 2, "finite number");
  check_fault("a,b\n1,nan\n", 6, 2, "finite number");
  check_fault("a,b\n1,-inf\n", 6, 2, "finite number");
  check_fault("a,b\n1,1e999\n", 6, 2, "that a double can hold");
  check_fault("a,b\n1,\"2\n", 6, 2, "closing quote");
  check_fault("a,b\n1,\"2", 6, 2, "closing quote");
  check_fault("a,b\n1,\"2\"3\n", 9, 2, "expected a separator");
  check_fault("1,2\r3,4\n", 4, 1, "expected a separator");
  check_fault("a,b\n1,2\n", 0, 1, "found \"a\"", {.header = csv_header::absent});
  check_fault(std::string("a,b\n1,\0\n", 8), 6, 2, "finite number");
  CHECK_THROWS_AS(parse(""), format_error);
  CHECK_THROWS_WITH(parse("a,b\n"), Catch::Contains("at least one row"));
  CHECK_THROWS_WITH(
      lamina::dataset::read_csv("/nonexistent/file"),
      std::string("lamina: /nonexistent/file: cannot be opened: ") + std::strerror(ENOENT));
  CHECK_THROWS_WITH(lamina::dataset::read_csv("/"), Catch::Contains("it is a folder"));
}
