// SPDX-License-Identifier: Apache-2.0
// Photographs by v2's names.
#include <string>

#include "dataset/data_archives.hpp"
#include <catch2/catch.hpp>

#include <lamina/v2/image_dataset.hpp>

namespace dataset = lamina::v2::dataset;

TEST_CASE("flowers of v2 are images of 224 * 224 pixels", "[dataset]") {
  std::size_t images = 0;
  for (const auto& s : dataset::flowers::test(test::data_archive(""))()) {
    CHECK(s.image.size() == 3 * 224 * 224);
    CHECK((s.label == 0 || s.label == 8));
    ++images;
  }
  CHECK(images == 2);
  for (const auto& s : dataset::flowers::train(test::data_archive(""))(1))
    CHECK(s.image.size() == 3 * 224 * 224);
}

TEST_CASE("photographs of v2 that are not in the cache", "[dataset]") {
  const test::temporary_directory home;
  const std::string before = std::getenv("HOME") == nullptr ? "" : std::getenv("HOME");
  ::setenv("HOME", home.path().c_str(), 1);
  CHECK_THROWS_WITH(dataset::flowers::valid(), Catch::Contains("/flowers/102flowers.tgz"));
  CHECK_THROWS_WITH(dataset::voc2012::train(),
                    Catch::Contains("/voc2012/VOCtrainval_11-May-2012.tar"));
  const std::string folder = dataset::common::DATA_HOME() + "/voc2012";
  lamina::make_directories(folder);
  const std::string name = "VOCtrainval_11-May-2012.tar";
  lamina::write_file(folder + "/" + name, lamina::read_file(test::data_archive(name)));
  std::size_t pixels = 0;
  for (const auto& s : dataset::voc2012::train()()) pixels += s.classes.size();
  CHECK(pixels == 4 * 6 + 5 * 3);
  ::setenv("HOME", before.c_str(), 1);
}
