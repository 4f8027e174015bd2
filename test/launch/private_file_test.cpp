// SPDX-License-Identifier: Apache-2.0
#include <fstream>
#include <iterator>
#include <string>

#include <catch2/catch.hpp>
#include <sys/stat.h>

#include <lamina/core/messages/error.hpp>
#include <lamina/launch/private_file.hpp>

using lamina::distributed::private_file;
using lamina::distributed::private_folder;

namespace {

unsigned mode_of(const std::string& path) {
  struct stat found {};
  return ::stat(path.c_str(), &found) == 0 ? found.st_mode & 0777 : 0;
}

}  // namespace

TEST_CASE("private files are for their user alone, and end") {
  std::string folder_path, file_path;
  {
    const private_folder folder;
    folder_path = folder.path();
    const std::string large(1 << 20, 'x'), inner = folder.write("a", large);
    CHECK(mode_of(folder_path) == 0700);
    CHECK(mode_of(inner) == 0600);
    std::ifstream read(inner, std::ios::binary);
    CHECK(std::string(std::istreambuf_iterator<char>(read), {}) == large);
    CHECK_THROWS_WITH(folder.write("a", "again"), Catch::Matchers::Contains("expected to write"));
    const private_file file("text");
    file_path = file.path();
    CHECK(mode_of(file_path) == 0600);
  }
  CHECK(mode_of(folder_path) == 0);
  CHECK(mode_of(file_path) == 0);
}
