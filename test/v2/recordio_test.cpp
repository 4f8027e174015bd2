// SPDX-License-Identifier: Apache-2.0
// Records of files by v2's name.
#include <cstdint>
#include <string>
#include <vector>

#include "io/temporary_folder.hpp"
#include <catch2/catch.hpp>

#include <lamina/reader/map.hpp>
#include <lamina/v2/recordio.hpp>

namespace creator = lamina::v2::reader::creator;

TEST_CASE("records of files that convert wrote", "[dataset]") {
  const temporary_folder folder;
  std::vector<std::int64_t> numbers;
  for (std::int64_t i = 0; i < 250; ++i) numbers.push_back(i * i);
  CHECK(lamina::convert(folder.path(), numbers, 100, "squares") == 3);
  auto samples = creator::recordio(folder.path() + "/squares-*", 10) |
                 lamina::reader::map(&lamina::from_record<std::int64_t>);
  for (int pass = 0; pass < 2; ++pass) {
    std::vector<std::int64_t> read;
    for (const std::int64_t n : samples()) read.push_back(n);
    CHECK(read == numbers);
  }
  std::size_t count = 0;
  for (const auto& record :
       creator::recordio({folder.path() + "/squares-00002", folder.path() + "/squares-00000"})())
    count += record.size() == 12;
  CHECK(count == 150);
  auto none = creator::recordio(folder.path() + "/none-*");
  CHECK_THROWS_WITH((void)none().begin(), Catch::Contains("/none-*', found none"));
}
