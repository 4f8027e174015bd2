// SPDX-License-Identifier: Apache-2.0
// The functions of the operating system: what they say of files and processes, and names beyond
// ASCII.
#include <algorithm>
#include <cerrno>
#include <ctime>
#include <filesystem>
#include <string>
#include <vector>

#include "io/temporary_folder.hpp"
#include <catch2/catch.hpp>

#include <lamina/core/files/file.hpp>
#include <lamina/core/system/system.hpp>

namespace {

namespace sys = lamina::detail::system;

}  // namespace

TEST_CASE("the facts about files and folders") {
  const temporary_folder folder;
  const std::string path = folder.path() + "/file";
  CHECK(sys::status_of(path).kind == sys::file_kind::missing);
  CHECK(errno == ENOENT);
  CHECK(sys::status_of(folder.path()).kind == sys::file_kind::folder);
  CHECK(sys::status_of(folder.path() + "/").kind == sys::file_kind::folder);
  lamina::write_file(path, "a\r\nb\nc");
  const sys::file_status found = sys::status_of(path);
  CHECK(found.kind == sys::file_kind::regular);
  CHECK(found.size == 6);
  const std::int64_t now = static_cast<std::int64_t>(std::time(nullptr));
  CHECK((found.modified > now - 3600 && found.modified < now + 3600));
  CHECK(lamina::read_file(path) == "a\r\nb\nc");  // no byte is translated
  CHECK(sys::may_write(path));
  CHECK(sys::is_separator('/'));
  CHECK(sys::is_absolute(sys::resolved_path(path)));
  CHECK(sys::resolved_path(path + "no").empty());
  CHECK_FALSE(sys::remove_path(path + "no"));
  CHECK(errno == ENOENT);
  CHECK_FALSE(sys::remove_path(folder.path()));  // it is not empty
  CHECK((errno == ENOTEMPTY || errno == EEXIST));
  CHECK_FALSE(sys::remove_folder(path));  // it is a file
  CHECK(errno == ENOTDIR);
  CHECK_FALSE(sys::make_folder(folder.path()));
  CHECK(errno == EEXIST);
}

TEST_CASE("a rename replaces a file at once") {
  const temporary_folder folder;
  const std::string from = folder.path() + "/new", to = folder.path() + "/old";
  lamina::write_file(to, "old");
  lamina::write_file(from, "new");
  CHECK(sys::rename_file(from, to));
  CHECK(lamina::read_file(to) == "new");
  CHECK(sys::status_of(from).kind == sys::file_kind::missing);
  CHECK_FALSE(sys::rename_file(from, to));
  CHECK(errno == ENOENT);
  CHECK(lamina::read_file(to) == "new");
}

TEST_CASE("paths are UTF-8, and may be long") {
  const temporary_folder folder;
  const std::string names[] = {"gr\u00fc\u00df", "\u6570\u5b57", "\U0001f600"};
  for (const std::string& name : names) {
    const std::string inner = folder.path() + "/" + name;
    lamina::make_directories(inner + "/b");
    lamina::write_file(inner + "/" + name, name);
    CHECK(lamina::read_file(inner + "/" + name) == name);
    // The path of the C++ library leads to the same file.
    const std::filesystem::path path =
        std::filesystem::path(reinterpret_cast<const char8_t*>((inner + "/" + name).c_str()));
    CHECK(std::filesystem::file_size(path) == name.size());
    CHECK(lamina::file_path(path).string().ends_with(name));
    std::vector<std::string> found;
    CHECK(sys::names_in(inner, found));
    std::sort(found.begin(), found.end());
    CHECK(found == std::vector<std::string>{".", "..", "b", name});
  }
  std::string deep = folder.path();
  for (int i = 0; i < 6; ++i) deep += "/" + std::string(100, static_cast<char>('a' + i));
  lamina::make_directories(deep);
  lamina::write_file(deep + "/file", "deep");
  lamina::write_file(deep + "/file", "deeper");
  CHECK(lamina::read_file(deep + "/file") == "deeper");
  lamina::remove_file(deep + "/file");
  for (; deep != folder.path(); deep.resize(deep.rfind('/'))) CHECK(sys::remove_path(deep));
}

TEST_CASE("shell patterns match names in folders") {
  const temporary_folder folder;
  for (const char* const inner : {"/a1", "/a2", "/b"}) {
    lamina::make_directories(folder.path() + inner);
    for (const char* const name : {"/x.bin", "/y.bin", "/.x.bin", "/[z]"})
      lamina::write_file(folder.path() + inner + name, "");
  }
  const auto matches = [&](const std::string& pattern) {
    std::vector<std::string> found;
    CHECK(sys::matching_paths(folder.path() + pattern, found));
    std::string names;
    std::sort(found.begin(), found.end());
    for (const std::string& path : found) names += path.substr(folder.path().size()) + " ";
    return names;
  };
  CHECK(matches("/a*/x.bin") == "/a1/x.bin /a2/x.bin ");
  CHECK(matches("/a?/[x-y].b*n") == "/a1/x.bin /a1/y.bin /a2/x.bin /a2/y.bin ");
  CHECK(matches("/b/[!x]*.bin") == "/b/y.bin ");
  CHECK(matches("/b/.x*") == "/b/.x.bin ");
  CHECK(matches("/b/[[]z]") == "/b/[z] ");
  CHECK(matches("/b/none*") == "");
  CHECK(matches("/none*/x.bin") == "");
  CHECK(matches("/b/x.bin") == "/b/x.bin ");
  CHECK(matches("/b/x.bin/*") == "");
}

TEST_CASE("this process runs; clocks go on") {
  CHECK(sys::is_running(sys::process_id()));
  CHECK(sys::processors() >= 1);
  const double begin = sys::steady_seconds();
  CHECK(sys::steady_seconds() >= begin);
  const std::time_t now = std::time(nullptr);
  const std::int64_t other =
      static_cast<std::int64_t>(sys::nanoseconds_since_1970() / 1'000'000'000);
  CHECK((other >= now - 2 && other <= now + 60));
  std::tm local = sys::local_time(now);
  CHECK(std::mktime(&local) == now);
}

TEST_CASE("the steady clock goes on and never back") {
  const double begin = sys::steady_seconds();
  double before = begin, now = begin;
  for (int i = 0; i < 1000; ++i) {
    now = sys::steady_seconds();
    REQUIRE(now >= before);
    before = now;
  }
  while (now == begin) now = sys::steady_seconds();
  CHECK(now > begin);
}
