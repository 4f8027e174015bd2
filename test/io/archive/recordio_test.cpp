// SPDX-License-Identifier: Apache-2.0
// RecordIO: chunks as Python writes them by its zlib and by cramjam's snappy, and damage.
#include <string>
#include <string_view>
#include <vector>

#include "io/temporary_folder.hpp"
#include <catch2/catch.hpp>

#include <lamina/io/archive/recordio.hpp>

using Catch::Contains;

namespace {

/// The bytes of hexadecimal digits.
std::string of_digits(std::string_view digits) {
  std::string all;
  for (std::size_t i = 0; i < digits.size(); i += 2)
    all += static_cast<char>(std::stoi(std::string(digits.substr(i, 2)), nullptr, 16));
  return all;
}
const std::string plain =
    of_digits("0403020102000000f67db7ec000000000b000000030000006f6e6500000000");
const std::string gzipped = of_digits(
    "040302010200000014f5d5e9020000001d0000001f8b080000000000020363666060c8cf4b05920c00f67db7ec0b00"
    "0000");
const std::string snappy = of_digits(
    "04030201030000006cb27372010000002c000000ff060000734e61507059001e00003b491ffd7244030000006f6e65"
    "0000000063000000616263fe03007e0300");

std::vector<std::string> records_of(const std::string& bytes) {
  lamina::binary_reader file(bytes, "made up");
  lamina::recordio_reader from(file);
  std::vector<std::string> all;
  for (std::string_view record; from.next(record);) all.emplace_back(record);
  return all;
}
std::string refused(const std::string& bytes) {
  try {
    records_of(bytes);
  } catch (const lamina::format_error& e) {
    CHECK(e.file() == "made up");
    CHECK(e.offset() <= bytes.size());
    return e.what();
  }
  return "none";
}
/// A chunk with a right checksum.
std::string chunk(std::uint32_t records, std::uint32_t packing, const std::string& bytes) {
  std::string all;
  for (const std::uint32_t n : {0x01020304u, records, lamina::crc32_of(bytes.data(), bytes.size()),
                                packing, static_cast<std::uint32_t>(bytes.size())})
    for (int i = 0; i < 4; ++i) all += static_cast<char>(n >> (8 * i));
  return all + bytes;
}
std::string written(const std::vector<std::string>& records, lamina::recordio_options how = {}) {
  const temporary_folder folder;
  const std::string path = folder.path() + "/records";
  lamina::binary_writer file(path);
  lamina::recordio_writer to(file, how);
  for (const std::string& r : records) to.write(r);
  to.finish();
  file.finish();
  return lamina::read_file(path);
}

}  // namespace

TEST_CASE("chunks of RecordIO: plain, gzip and snappy") {
  const std::vector<std::string> two{"one", ""};
  CHECK(records_of(plain) == two);
  CHECK(written(two) == plain);
  std::string abc;
  for (int i = 0; i < 33; ++i) abc += "abc";
#if LAMINA_HAS_ZLIB
  CHECK(records_of(gzipped) == two);
  CHECK(records_of(snappy + plain + gzipped) ==
        std::vector<std::string>{"one", "", abc, "one", "", "one", ""});
#endif
  CHECK(records_of(snappy) == std::vector<std::string>{"one", "", abc});
  CHECK(records_of("").empty());
}

TEST_CASE("chunks are full by records or by bytes") {
  std::vector<std::string> many;
  for (int i = 0; i < 25; ++i) many.push_back(std::string(static_cast<std::size_t>(i), 'x'));
  CHECK(records_of(written(many)) == many);
  const std::string by_ten = written(many, {.records = 10});
  CHECK(records_of(by_ten) == many);
  CHECK(by_ten.size() == written(many).size() + 40);
  CHECK(records_of(written(many, {.bytes = 30})) == many);
  CHECK(written({}).empty());
  CHECK_THROWS_WITH(written(many, {.records = 0}), Contains("at least 1 record, found 0"));
}

TEST_CASE("damaged RecordIO") {
  for (const std::string& whole : {plain, snappy}) {
    for (std::size_t n = 1; n < whole.size(); ++n) CHECK(refused(whole.substr(0, n)) != "none");
    for (std::size_t n = 0; n < whole.size(); ++n)
      for (int bit = 0; bit < 8; ++bit) {
        std::string changed = whole;
        changed[n] = static_cast<char>(changed[n] ^ 1 << bit);
        CHECK(refused(changed) != "none");
      }
  }
  CHECK_THAT(refused("xxxxxxxx"), Contains("expected the mark of a chunk"));
  CHECK_THAT(refused(chunk(2, 0, std::string("\0\0\0\0", 4))), Contains("expected 1 more records"));
  CHECK_THAT(refused(chunk(1, 0, std::string("\0\0\0\0x", 5))), Contains("found 1 more bytes"));
  CHECK_THAT(refused(chunk(1, 0, "\5\0\0\0x")), Contains("expected 1 more records"));
  CHECK_THAT(refused(chunk(1, 3, "x")), Contains("found the compression 3"));
  CHECK_THAT(refused(chunk(1, 2, "")), Contains("expected a gzip stream, found no bytes"));
}
