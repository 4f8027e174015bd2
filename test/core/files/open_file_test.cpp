// SPDX-License-Identifier: Apache-2.0
// A file of the system: what is written is read, failures leave errno, names come from the folder.
#include <cerrno>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "io/temporary_folder.hpp"
#include <catch2/catch.hpp>

#include <lamina/core/files/open_file.hpp>
#include <lamina/core/messages/error.hpp>

namespace {

constexpr lamina::file_use to_write = lamina::file_use::create;

}  // namespace

TEST_CASE("a file holds the bytes that were written, also more than one block of them") {
  const temporary_folder folder;
  const std::string path = folder.path() + "/numbers";
  std::string bytes(200000, '\0');
  for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<char>(i % 251);
  lamina::open_file written(path, to_write, 0600);
  REQUIRE(written.is_open());
  CHECK((written.write(bytes.data(), bytes.size()) && written.sync() && written.close()));
  CHECK(!written.is_open());
  lamina::open_file first(path);
  lamina::open_file read = std::move(first);
  CHECK(!first.is_open());
  char head[3];
  REQUIRE(read.read(head, 3) == 3);
  CHECK(head[2] == 2);
  std::string rest;
  REQUIRE(read.read_all(rest));
  CHECK(rest == bytes.substr(3));
  CHECK(read.read(head, 3) == 0);
}

TEST_CASE("what the system refuses is said by errno") {
  const temporary_folder folder;
  const lamina::open_file missing(folder.path() + "/none");
  CHECK(!missing.is_open());
  CHECK(errno == ENOENT);
  const lamina::open_file cut(folder.path() + std::string("/none\0more", 10), to_write, 0600);
  CHECK(!cut.is_open());
  CHECK(errno == EINVAL);
  const lamina::open_file directory(folder.path());
  char byte;
  CHECK(directory.read(&byte, 1) == -1);
  CHECK(errno == EISDIR);
  CHECK(!directory.write(&byte, 1));
  CHECK(lamina::reason_of(ENOENT) == "No such file or directory");
}

TEST_CASE("the names in a folder; a folder that is not there has none") {
  const temporary_folder folder;
  for (const char* name : {"a", "b"})
    CHECK(lamina::open_file(folder.path() + "/" + name, to_write, 0600).is_open());
  std::set<std::string> names;
  const auto note = [&](std::string_view name) { names.emplace(name); };
  lamina::for_each_name(folder.path() + "/none", note);
  lamina::for_each_name(folder.path() + "/a", note);
  CHECK(names.empty());
  lamina::for_each_name(folder.path(), note);
  CHECK(names == std::set<std::string>{".", "..", "a", "b"});
}
