// SPDX-License-Identifier: Apache-2.0
// Folders and names in paths, and paths that must not lead out of a folder. On Windows, a backslash
// separates names too, and a path may begin with a drive.
#include <string>

#include <catch2/catch.hpp>

#include <lamina/core/files/paths.hpp>

namespace detail = lamina::detail;

namespace {
const bool windows = detail::system::is_separator('\\');
}

TEST_CASE("paths: folder and name") {
  for (const auto& [folder, name] : {std::pair<std::string, std::string>{"", "b"},
                                     {"a/", "b"},
                                     {"/a/c.d/", ""},
                                     {"/", "b"},
                                     {"", ""}}) {
    CHECK(detail::folder_of(folder + name) == folder);
    CHECK(detail::file_name_of(folder + name) == name);
  }
  CHECK(detail::file_name_of("a/c\\b") == (windows ? "b" : "c\\b"));
  CHECK(detail::folder_of("C:b") == (windows ? "C:" : ""));
}

TEST_CASE("paths: inner paths and names of files") {
  for (const char* const name : {"b", "b.c", "..b", "b..", "Modèle"}) {
    CAPTURE(name);
    CHECK(detail::is_file_name(name));
    CHECK(detail::is_inner_path(name));
    CHECK_FALSE(detail::is_file_name(std::string("a/") + name));
    CHECK(detail::is_file_name(std::string("a\\") + name) == !windows);
    CHECK(detail::is_inner_path(std::string("a/") + name));
    CHECK_FALSE(detail::is_inner_path(std::string("/") + name));
    CHECK(detail::is_inner_path(std::string("C:") + name) == !windows);
    CHECK(detail::is_inner_path(std::string("\\\\server\\a\\") + name) == !windows);
  }
  for (const std::string outer :
       {"", "..", "../b", "a/..", "a/../b", "..\\b", "a\\..", "a\\..\\b"}) {
    CAPTURE(outer);
    CHECK_FALSE(detail::is_inner_path(outer));
    CHECK_FALSE(detail::is_file_name(outer));
  }
  CHECK_FALSE(detail::is_inner_path(std::string("a\0b", 3)));
  CHECK_FALSE(detail::is_file_name("."));
}
