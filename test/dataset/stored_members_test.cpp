// SPDX-License-Identifier: Apache-2.0
#include <filesystem>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "dataset/data_archives.hpp"
#include <catch2/catch.hpp>

#include <lamina/dataset/stored_members.hpp>

using lamina::dataset::stored_members;

namespace {
bool all(std::string_view) { return true; }
}  // namespace

TEST_CASE("members of an archive, plain or compressed, are read when they are asked for") {
  const stored_members packed(test::data_archive("simple-examples.tgz"),
                              [](std::string_view name) { return name.ends_with(".txt"); });
  REQUIRE(packed.size() == 3);
  CHECK(packed.bytes(packed.index_of("simple-examples/data/ptb.test.txt")) == " only here\n");
  lamina::dataset::archive_members files{"made up"};
  for (int i = 0; i < 50; ++i)
    files.add("m" + std::to_string(i % 49), std::string(1000, static_cast<char>('a' + i % 26)));
  const test::temporary_directory folder;
  const std::string path = folder.write("a.tar", test::tar_bytes(files));
  const stored_members plain(path, all);
  CHECK(plain.size() == 50);
  CHECK(plain.index_of("m0") == 49);  // the later one, as Python's tarfile
  CHECK(plain.full_name(3) == path + ": m3");
  CHECK_FALSE(plain.contains("m49"));
  CHECK_THROWS_WITH(plain.index_of("m49"), Catch::Contains("expected the member 'm49'"));

  std::vector<int> wrong(4, 0);
  std::vector<std::thread> threads;
  for (int& count : wrong)
    threads.emplace_back([&plain, &files, &count] {
      for (std::size_t i = 0; i < 50; ++i) count += plain.bytes(i) != files.all[i].bytes;
    });
  for (std::thread& t : threads) t.join();
  CHECK(wrong == std::vector<int>(4, 0));

  std::filesystem::resize_file(path, 1600);
  CHECK(plain.bytes(0) == files.all[0].bytes);
  CHECK_THROWS_WITH(plain.bytes(9), Catch::Contains("'m9'") && Catch::Contains("shorter"));
}

TEST_CASE("archives that cannot be opened") {
  CHECK_THROWS_WITH(stored_members(test::data_archive("none.tar"), all),
                    Catch::Contains("none.tar: cannot be opened"));
  CHECK_THROWS_AS(stored_members(test::data_archive("wordDict.txt"), all), lamina::format_error);
}
