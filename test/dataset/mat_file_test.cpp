// SPDX-License-Identifier: Apache-2.0
// Matrices of MATLAB's files: those of make_archives.py, and damage.
#include <string>
#include <vector>

#include "dataset/data_archives.hpp"
#include <catch2/catch.hpp>

#include <lamina/dataset/mat_file.hpp>

using lamina::dataset::mat_file;

namespace {

std::string word(std::uint32_t n) {
  std::string all;
  for (int i = 0; i < 4; ++i) all += static_cast<char>(n >> (8 * i));
  return all;
}
std::string element(std::uint32_t type, std::string bytes) {
  const auto size = static_cast<std::uint32_t>(bytes.size());
  bytes.resize((bytes.size() + 7) / 8 * 8);
  return word(type) + word(size) + bytes;
}
std::string header() { return std::string(124, ' ') + std::string("\0\1IM", 4); }
std::string matrix(std::uint32_t kind, const std::string& shape, const std::string& numbers) {
  return element(14,
                 element(6, word(kind) + word(0)) + element(5, shape) + element(1, "m") + numbers);
}
std::string refused(const std::string& bytes) {
  return test::message_of([&] { mat_file file("made up", bytes); });
}

}  // namespace

#if LAMINA_HAS_ZLIB
TEST_CASE("matrices of a MAT file, compressed or not") {
  const mat_file labels(test::data_archive("imagelabels.mat"));
  CHECK(labels.at("labels").values == std::vector<double>{77, 1, 102, 5, 9});
  CHECK(labels.at("labels").shape == std::vector<std::int64_t>{1, 5});
  const mat_file sets(test::data_archive("setid.mat"));
  REQUIRE(sets.matrices().size() == 4);
  CHECK(sets.at("valid").values == std::vector<double>{1});
  CHECK(sets.at("others").values == std::vector<double>{1, 2000});
  CHECK_THROWS_WITH(sets.at("labels"), Catch::Contains("expected a matrix 'labels', found none"));
}
#endif

TEST_CASE("numbers of all types, and variables of other kinds") {
  const std::string two = word(2) + word(1);
  const auto first = [](const std::string& bytes) {
    return mat_file("made up", header() + bytes).at("m").values;
  };
  const std::vector<double> expected{-1, 2};
  CHECK(first(matrix(8, two, element(1, "\xff\2"))) == expected);
  CHECK(first(matrix(10, two, element(3, std::string("\xff\xff\2\0", 4)))) == expected);
  CHECK(first(matrix(12, two, element(5, word(~0u) + word(2)))) == expected);
  CHECK(first(matrix(7, two, element(7, word(0xbf800000u) + word(0x40000000u)))) == expected);
  CHECK(first(matrix(6, two,
                     element(9, word(0) + word(0xbff00000u) + word(0) + word(0x40000000u)))) ==
        expected);
  CHECK(first(matrix(14, two, element(12, word(~0u) + word(~0u) + word(2) + word(0)))) == expected);
  CHECK(first(matrix(4, two, "") + matrix(9, two, element(2, "\7\2"))) ==
        std::vector<double>{7, 2});  // texts are skipped
  CHECK(mat_file("made up", header()).matrices().empty());
}

TEST_CASE("MAT files that are refused") {
  using Catch::Contains;
  CHECK_THAT(refused(""), Contains("expected a header of 128 bytes, found 0"));
  CHECK_THAT(refused(std::string(200, 'x')), Contains("expected a little-endian file of MATLAB 5"));
  CHECK_THAT(refused(header() + "1234"), Contains("offset 128") && Contains("found 4"));
  CHECK_THAT(refused(header() + word(14) + word(99)), Contains("at most 0 bytes of an element"));
  CHECK_THAT(refused(header() + element(9, "12345678")), Contains("expected a matrix"));
  CHECK_THAT(refused(header() + element(14, "")), Contains("expected the kind, the shape"));
  const std::string two = word(2) + word(1);
  CHECK_THAT(refused(header() + matrix(9, two, element(2, "\7"))),
             Contains("expected 2 numbers of 1 bytes, found 1 bytes"));
  CHECK_THAT(refused(header() + matrix(9, word(1) + word(~0u), element(2, "\7"))),
             Contains("expected sizes of at least 0, found -1"));
  CHECK_THAT(refused(header() + matrix(9, word(2), element(2, "\7"))), Contains("two numbers"));
  CHECK_THAT(refused(header() + matrix(9, word(1u << 31 >> 1) + word(1u << 30) + word(1u << 30),
                                       element(2, "\7"))),
             Contains("fits into memory"));
  CHECK_THAT(refused(header() + matrix(9, two, "")), Contains("expected the numbers"));
  CHECK_THAT(refused(header() + matrix(9, two, element(16, "ab"))), Contains("of type 16"));
  CHECK_THAT(refused(header() + element(15, "not zlib")),
             Contains(LAMINA_HAS_ZLIB ? "damaged zlib stream" : "was built without zlib"));
}

#if LAMINA_HAS_ZLIB
TEST_CASE("damaged MAT files") {
  for (const char* name : {"imagelabels.mat", "setid.mat"})
    test::damage(lamina::read_file(test::data_archive(name)), 1,
                 [](const std::string& path) { mat_file file(path); });
}
#endif
