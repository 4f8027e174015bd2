// SPDX-License-Identifier: Apache-2.0
// Files of the archives that Python writes: which are read, and which are skipped.
#include <string>
#include <string_view>
#include <vector>

#include "dataset/data_archives.hpp"
#include <catch2/catch.hpp>

#include <lamina/dataset/archive_members.hpp>

using namespace lamina::dataset;

namespace {

bool any(std::string_view) { return true; }
std::vector<std::string> names_of(const archive_members& files) {
  std::vector<std::string> names;
  for (const auto& m : files.all) names.push_back(m.name);
  return names;
}

}  // namespace

TEST_CASE("members of a tar archive") {
  const auto all = read_tar_members(test::data_archive("simple-examples.tgz"), any);
  CHECK(names_of(all) == std::vector<std::string>{"simple-examples/data/README",
                                                  "simple-examples/data/ptb.test.txt",
                                                  "simple-examples/data/ptb.train.txt",
                                                  "simple-examples/data/ptb.valid.txt"});
  CHECK(all.at("simple-examples/data/README").bytes == "not a text of words");
  CHECK(all.at("simple-examples/data/README").begin % 512 == 0);
  CHECK(all.find("README") == nullptr);
  CHECK(test::message_of([&] { (void)all.at("README"); }) ==
        "lamina: " + all.path + ", offset 0: expected the member 'README', found none");
  const auto chosen = read_tar_members(test::data_archive("aclImdb_v1.tar.gz"),
                                       [](std::string_view name) { return name.ends_with(".md"); });
  CHECK(names_of(chosen) == std::vector<std::string>{"aclImdb/train/pos/notes.md"});
}

TEST_CASE("members of a zip archive, stored and deflated") {
  const std::string path = test::data_archive("ml-1m.zip");
  const auto all = read_zip_members(path, any);
  CHECK(names_of(all) == std::vector<std::string>{"ml-1m/", "ml-1m/movies.dat", "ml-1m/ratings.dat",
                                                  "ml-1m/README", "ml-1m/users.dat"});
  CHECK(all.at("ml-1m/README").bytes == "none of the data");
  CHECK_FALSE(all.at("ml-1m/README").stored);
  CHECK(all.at("ml-1m/users.dat").stored);
  CHECK_THAT(test::message_of([&] { (void)all.at("ml-1m/"); }),
             Catch::Contains("'ml-1m/': expected a text, found an empty member"));
  // A wrong checksum of a stored member, which nothing else would notice.
  std::string bytes = lamina::read_file(path);
  bytes[bytes.find("F::1::10")] = 'M';
  lamina::binary_reader damaged(bytes, "a.zip");
  CHECK_THAT(test::message_of([&] { (void)read_zip_members(damaged, any); }),
             Catch::Contains("checksum"));
  lamina::binary_reader unchecked(bytes, "a.zip");
  CHECK(read_zip_members(unchecked, any, false).at("ml-1m/users.dat").bytes.starts_with("1::M"));
}

TEST_CASE("a compressed member") {
  const auto all = read_tar_members(test::data_archive("conll05st-tests.tar.gz"), any);
  REQUIRE(all.all.size() == 3);
  const text_member words = unpack_member(all.all[0]);
  CHECK(words.bytes.starts_with("The   "));
  CHECK_FALSE(words.stored);
  CHECK(words.begin == all.all[0].begin);
  CHECK_THAT(test::message_of([&] { (void)unpack_member(all.all[2]); }),
             Catch::Contains(".ne.gz") && Catch::Contains("damaged gzip stream"));
}

TEST_CASE("foreign files are no archives") {
  const test::temporary_directory folder;
  for (const std::string& bytes :
       {std::string("<html>no such file</html>"), std::string(600, 'x')}) {
    const std::string path = folder.write("archive", bytes);
    CHECK_THAT(test::message_of([&] { (void)read_tar_members(path, any); }),
               Catch::Contains("lamina: " + path + ", offset"));
    CHECK_THAT(test::message_of([&] { (void)read_zip_members(path, any); }),
               Catch::Contains("lamina: " + path + ", offset"));
  }
  CHECK_THAT(test::message_of([&] { (void)read_tar_members(folder.path() + "/none", any); }),
             Catch::Contains("cannot be opened"));
}
