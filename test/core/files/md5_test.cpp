// SPDX-License-Identifier: Apache-2.0
#include <string>

#include "dataset/temporary_file.hpp"
#include <catch2/catch.hpp>

#include <lamina/core/files/md5.hpp>

namespace {

std::string sum_of(const std::string& bytes) {
  lamina::md5 sum;
  sum.add(bytes);
  return sum.digits();
}

}  // namespace

TEST_CASE("MD5 sums of RFC 1321") {
  CHECK(sum_of("") == "d41d8cd98f00b204e9800998ecf8427e");
  CHECK(sum_of("a") == "0cc175b9c0f1b6a831c399e269772661");
  CHECK(sum_of("message digest") == "f96b697d7cb7938d525a2f31aaf161d0");
  CHECK(
      sum_of("12345678901234567890123456789012345678901234567890123456789012345678901234567890") ==
      "57edf4a22be3c955ac49da2e2107b67a");
  // 55 bytes are the most that fit into the last block, 56 the fewest that do not (by md5sum).
  CHECK(sum_of(std::string(55, 'x')) == "04364420e25c512fd958a70738aa8f72");
  CHECK(sum_of(std::string(56, 'x')) == "668a72d5ba17f08e62dabcafad6db14b");
  CHECK(sum_of(std::string(64, 'x')) == "c1bb4f81d892b2d57947682aeb252456");
}

TEST_CASE("the MD5 sum of a file, in pieces") {
  const test::temporary_directory folder;
  std::string bytes;
  for (int i = 0; i < 200000; ++i) bytes += static_cast<char>(i * 7 % 251);
  CHECK(lamina::md5file(folder.write("file", bytes)) == sum_of(bytes));
  lamina::md5 pieces;
  for (std::size_t i = 0; i < bytes.size(); i += 1013) pieces.add(bytes.substr(i, 1013));
  CHECK(pieces.digits() == sum_of(bytes));
  CHECK_THROWS_WITH(lamina::md5file(folder.path() + "/none"),
                    Catch::Contains("/none: cannot be opened"));
  CHECK_THROWS_WITH(lamina::md5file(folder.path()), Catch::Contains("cannot be read"));
}
