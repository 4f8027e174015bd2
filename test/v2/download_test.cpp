// SPDX-License-Identifier: Apache-2.0
// Files come from URLs of this machine (file://), so that no network is needed.
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "io/temporary_folder.hpp"
#include <catch2/catch.hpp>

#include <lamina/v2/download.hpp>

namespace common = lamina::v2::dataset::common;
using Catch::Contains;

namespace {

const char* const sum = "5eb63bbbe01eeed093cb22bb8f5acdc3";  // of "hello world"

std::string error_of(const auto& call) {
  try {
    call();
  } catch (const lamina::error& e) {
    return e.what();
  }
  return "no error";
}

/// A home without data sets, and the file that is to be brought there.
class home {
 public:
  home() {
    if (const char* const before = std::getenv("HOME")) before_ = before;
    ::setenv("HOME", (folder_.path() + "/home").c_str(), 1);
    write(source(), "hello world");
  }
  home(const home&) = delete;
  home& operator=(const home&) = delete;
  ~home() { ::setenv("HOME", before_.c_str(), 1); }

  static void write(const std::string& path, const std::string& what) {
    std::ofstream(path, std::ios::binary) << what;
  }
  static std::string read(const std::string& path) {
    std::ifstream from(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(from), {}};
  }
  std::string source() const { return folder_.path() + "/words.txt"; }
  std::string url() const { return "file://" + source(); }
  /// What lies in the folder of a module.
  static std::size_t files(const std::string& module) {
    std::size_t n = 0;
    for (const auto& file : std::filesystem::directory_iterator(common::DATA_HOME() + "/" + module))
      n += file.exists() ? 1 : 0;
    return n;
  }

 private:
  temporary_folder folder_;
  std::string before_;
};

}  // namespace

TEST_CASE("a file with the right sum is brought once") {
  const home here;
  const std::string path = common::download(here.url(), "imdb", sum);
  CHECK(path == common::DATA_HOME() + "/imdb/words.txt");
  CHECK(home::read(path) == "hello world");
  CHECK(home::files("imdb") == 1);
  CHECK(common::download(here.url(), "imdb", sum, "other") == common::DATA_HOME() + "/imdb/other");
  std::filesystem::remove(here.source());
  CHECK(common::download(here.url(), "imdb", sum) == path);
}

TEST_CASE("a damaged file in the cache is brought again") {
  const home here;
  const std::string path = common::download(here.url(), "imdb", sum);
  home::write(path, "hello");
  CHECK(common::download(here.url(), "imdb", sum) == path);
  CHECK(home::read(path) == "hello world");
}

TEST_CASE("what is not the file is an error, and nothing is left of it") {
  const home here;
  home::write(here.source(), "hello");
  CHECK_THAT(error_of([&] { common::download(here.url(), "imdb", sum); }),
             Contains("expected a file with the MD5 sum 5eb63bbbe01eeed093cb22bb8f5acdc3, found a "
                      "file with 5d41402abc4b2a76b9719d911017c592"));
  CHECK_THAT(error_of([&] { common::download(here.url() + "x", "imdb", sum); }),
             Contains("found exit code 37 of curl"));
  CHECK(home::files("imdb") == 0);
  // A file with another sum that was there before stays until the right one is here.
  home::write(common::DATA_HOME() + "/imdb/words.txt", "mine");
  CHECK_THAT(error_of([&] { common::download(here.url(), "imdb", sum); }),
             Contains("found a file with"));
  CHECK(home::read(common::DATA_HOME() + "/imdb/words.txt") == "mine");
}

TEST_CASE("names that leave the folder, and sums that are none, are errors") {
  const home here;
  for (const char* const module : {"", "..", "a/b"})
    CHECK_THAT(error_of([&] { common::download(here.url(), module, sum); }),
               Contains("expected a module that is a name"));
  CHECK_THAT(error_of([&] { common::download("https://example.org/", "imdb", sum); }),
             Contains("expected a file that is a name, found ''"));
  CHECK_THAT(error_of([&] { common::download(here.url(), "imdb", "5EB6"); }),
             Contains("expected an MD5 sum of 32 digits (0-9, a-f), found '5EB6'"));
  const char* const before = std::getenv("PATH");
  const std::string kept = before == nullptr ? "" : before;
  ::setenv("PATH", "/nowhere", 1);
  CHECK_THAT(error_of([&] { common::download(here.url(), "imdb", sum); }),
             Contains("expected the command curl, found none"));
  ::setenv("PATH", kept.c_str(), 1);
}
