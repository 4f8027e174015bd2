// SPDX-License-Identifier: Apache-2.0
// Readers of arrays and of files of lines.
#include <fstream>
#include <string>
#include <vector>

#include "io/temporary_folder.hpp"
#include "reader/read.hpp"
#include <catch2/catch.hpp>

#include <lamina/reader/batch.hpp>
#include <lamina/v2/creator.hpp>

namespace creator = lamina::v2::reader::creator;
using rows = std::vector<std::vector<float>>;

TEST_CASE("np_array reads the rows of an array, again in each pass") {
  const auto reader = creator::np_array(lamina::array<float>{{1, 2}, {3, 4}, {5, 6}});
  for (int pass = 0; pass < 2; ++pass) CHECK(test::read(reader) == rows{{1, 2}, {3, 4}, {5, 6}});
  CHECK(test::read(reader | lamina::reader::batch(2)).size() == 2);
  CHECK(test::read(creator::np_array(lamina::array<float>{1.f, 2.f})) == rows{{1}, {2}});
  CHECK(test::read(creator::np_array(lamina::array<float>({0, 3}, std::vector<float>{}))).empty());
  const lamina::array<float> cube({2, 2, 2}, {1, 2, 3, 4, 5, 6, 7, 8});
  CHECK(test::read(creator::np_array(cube)) == rows{{1, 2, 3, 4}, {5, 6, 7, 8}});
}

TEST_CASE("text_file reads lines without their ends, the last one with or without one") {
  const temporary_folder folder;
  const auto written = [&](const char* text) {
    std::ofstream(folder.path() + "/lines.txt", std::ios::binary) << text;
    return creator::text_file(folder.path() + "/lines.txt");
  };
  using lines = std::vector<std::string>;
  CHECK(test::read(written("a b\n\nc")) == lines{"a b", "", "c"});
  const auto reader = written("a\n");
  for (int pass = 0; pass < 2; ++pass) CHECK(test::read(reader) == lines{"a"});
  CHECK(test::read(written("a\r\n\r\nb\r")) == lines{"a", "", "b\r"});
  CHECK(test::read(written("")).empty());
  const auto missing = creator::text_file(folder.path() + "/none.txt");
  CHECK_THROWS_WITH(test::read(missing), Catch::Contains("none.txt: cannot be opened"));
}
