// SPDX-License-Identifier: Apache-2.0
// Flowers: as PaddlePaddle reads them, and damaged. image/simple_transform_test decodes them.
#include <array>
#include <filesystem>
#include <string>
#include <string_view>

#include "dataset/data_archives.hpp"
#include <catch2/catch.hpp>

#include <lamina/core/files/md5.hpp>
#include <lamina/dataset/flowers.hpp>

namespace flowers = lamina::dataset::flowers;

TEST_CASE("photographs of flowers are read as PaddlePaddle does") {
  const auto all = flowers::read(test::data_archive(""));
  test::report found;
  const auto add = [&](const char* name, const auto& table) {
    found.line(name);
    for (const auto& s : table) {
      lamina::md5 sum;
      sum.add(s.bytes);
      found.line(std::to_string(s.label) + " | " + sum.digits());
      CHECK_THAT(s.name, Catch::Contains("102flowers.tgz: jpg/image_0000"));
    }
  };
  add("train", all.train());
  add("test", all.test());
  add("valid", all.valid());
  found.check("flowers");
}

TEST_CASE("damaged files of flowers are refused") {
  const test::temporary_directory folder;
  const auto copy = [&](const char* name, std::string_view from, std::string_view to) {
    std::string bytes = lamina::read_file(test::data_archive(name));
    const std::size_t at = from.empty() ? bytes.npos : bytes.find(from);
    if (at != bytes.npos) bytes.replace(at, from.size(), to);
    folder.write(name, bytes);
  };
  using Catch::Contains;
  CHECK_THROWS_WITH(flowers::read(folder.path()), Contains("102flowers.tgz: cannot be opened"));
  copy("102flowers.tgz", "", "");
  copy("imagelabels.mat", "", "");
  copy("setid.mat", "tstid", "other");
  const auto train = [&] { return flowers::read(folder.path()).train(); };
  CHECK_THROWS_WITH(train(), Contains("setid.mat") && Contains("expected a matrix 'tstid'"));
  // Matrices of two bytes are small elements: the type, their number, the bytes.
  const std::string two("\2\0\2\0\3\4", 6);
  copy("setid.mat", two, std::string("\2\0\2\0\3\6", 6));
  CHECK_THROWS_WITH(train(), Contains("the number of an image from 1 to 5, found 6"));
  copy("setid.mat", two, std::string("\2\0\2\0\0\3", 6));
  CHECK_THROWS_WITH(train(), Contains("the number of an image from 1 to 5, found 0"));
  copy("setid.mat", "", "");
  folder.write("102flowers.tgz", lamina::read_file(test::data_archive("simple-examples.tgz")));
  CHECK_THROWS_WITH(train(), Contains("expected the member 'jpg/image_00003.jpg', found none"));
  std::filesystem::copy_file(test::data_archive("setid.mat"), folder.path() + "/imagelabels.mat",
                             std::filesystem::copy_options::overwrite_existing);
  CHECK_THROWS_WITH(train(), Contains("imagelabels.mat") && Contains("'labels', found none"));
}
