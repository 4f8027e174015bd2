// SPDX-License-Identifier: Apache-2.0
// The folder of a pass is whole or says that it is not.
#include <cerrno>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "dataset/temporary_file.hpp"
#include <catch2/catch.hpp>

#include <lamina/cli/pass_folder.hpp>

namespace fs = std::filesystem;
using lamina::pass_folder;

namespace {

std::string content(const std::string& path) {
  std::ifstream from(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(from), {}};
}

}  // namespace

TEST_CASE("folders of passes have the names of PaddlePaddle v2") {
  CHECK(pass_folder("output", 0).path() == "output/pass-00000");
  CHECK(pass_folder("output/", 123).path() == "output/pass-00123");
  CHECK(pass_folder("/", 1234567).path() == "/pass-1234567");
  CHECK(pass_folder("o", 2).model() == "o/pass-00002/model");
  CHECK(pass_folder("o", 2).trainer() == "o/pass-00002/trainer");
}

TEST_CASE("a folder is whole from finish() until the next begin()") {
  const test::temporary_directory in;
  const pass_folder folder(in.path() + "/a/b", 3);
  CHECK_THROWS_WITH(folder.require_whole("--start_pass=4"),
                    "lamina: --start_pass=4: expected the folder of a whole pass, " +
                        folder.path() + ", found none");
  folder.begin();
  CHECK_THROWS_WITH(folder.require_whole("--start_pass=4"),
                    "lamina: --start_pass=4: expected the folder of a whole pass, " +
                        folder.path() + ", found one without the file done");
  folder.finish("digits.linear");
  CHECK_NOTHROW(folder.require_whole(""));
  CHECK(content(folder.path() + "/done").starts_with("lamina "));
  CHECK(content(folder.path() + "/path.txt") == "digits.linear\n");
  CHECK(lamina::configuration_of(folder.path()) == "digits.linear");
  folder.begin();
  CHECK_THROWS_AS(folder.require_whole(""), lamina::error);
  CHECK(lamina::configuration_of(in.path()).empty());
  CHECK(lamina::configuration_of(in.path() + "/none").empty());
}

TEST_CASE("a folder is removed with its own files alone") {
  const test::temporary_directory in;
  const pass_folder folder(in.path(), 1), other(in.path(), 2);
  CHECK(folder.remove());  // there is none
  for (const pass_folder& f : {folder, other}) {
    f.begin();
    std::ofstream(f.model()) << "m";
    std::ofstream(f.trainer()) << "t";
    f.finish("c");
  }
  std::ofstream(other.path() + "/notes") << "mine";
  CHECK(folder.remove());
  CHECK_FALSE(fs::exists(folder.path()));
  CHECK(other.remove());
  CHECK(fs::exists(other.path() + "/notes"));
  CHECK(std::distance(fs::directory_iterator(other.path()), {}) == 1);
  std::ofstream(in.path() + "/pass-00007") << "a file";
  const pass_folder file(in.path(), 7);
  CHECK_FALSE(file.remove());
  CHECK(errno == ENOTDIR);
  CHECK_THROWS_WITH(file.begin(), Catch::Contains("cannot be made a directory"));
}

TEST_CASE("the file of a model is a file or in a folder") {
  const test::temporary_directory in;
  const std::string file = in.write("some", "x");
  CHECK(lamina::model_file_at(file) == file);
  CHECK(lamina::model_file_at(in.path()) == in.path() + "/model");
  CHECK(lamina::model_file_at(in.path() + "/none") == in.path() + "/none");
}
