// SPDX-License-Identifier: Apache-2.0
// A mapped file: its bytes are read in place, also after pages were released, and moved with it.
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>

#include "io/temporary_folder.hpp"
#include <catch2/catch.hpp>

#include <lamina/core/files/file.hpp>
#include <lamina/core/files/file_mapping.hpp>
#include <lamina/core/files/open_file.hpp>

TEST_CASE("a mapping has the bytes of the file after it is closed") {
  const temporary_folder folder;
  const std::string path = folder.path() + "/bytes";
  std::string bytes(300000, '\0');
  for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<char>(i % 253);
  lamina::write_file(path, bytes);
  lamina::open_file file(path);
  lamina::file_mapping first(file.number(), bytes.size());
  CHECK(file.close());
  REQUIRE(first.data() != nullptr);
  CHECK(std::string_view(first.data(), first.size()) == bytes);
  lamina::file_mapping second(std::move(first));
  CHECK(first.data() == nullptr);
  second.release(1, second.size());
  CHECK(std::string_view(second.data(), second.size()) == bytes);
  second.release(0, second.size() + 1);  // beyond the end: nothing happens
  CHECK(second.data()[299999] == bytes[299999]);
}

TEST_CASE("an empty file, and one that cannot be mapped, have no bytes") {
  const temporary_folder folder;
  lamina::write_file(folder.path() + "/empty", "");
  const lamina::open_file empty(folder.path() + "/empty"), directory(folder.path());
  CHECK(lamina::file_mapping(empty.number(), 0).data() == nullptr);
  CHECK(lamina::file_mapping(directory.number(), 4096).data() == nullptr);
}
