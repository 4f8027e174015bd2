// SPDX-License-Identifier: Apache-2.0
// JPEG files as inputs of networks: the numbers of PaddlePaddle, and random changes.
#include <algorithm>
#include <cstdlib>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "dataset/data_archives.hpp"
#include <catch2/catch.hpp>

#include <lamina/dataset/flowers.hpp>
#include <lamina/image/simple_transform.hpp>
#include <lamina/reader/xmap.hpp>

namespace image = lamina::image;
namespace flowers = lamina::dataset::flowers;

namespace {

flowers::data all_flowers() { return flowers::read(test::data_archive("")); }

}  // namespace

TEST_CASE("images are resampled and cut as PaddlePaddle does") {
  std::istringstream lines(lamina::read_file(test::data_archive("simple_transform.expected.txt")));
  const auto train = all_flowers().train();  // images of 18 * 9 and 14 * 20 pixels
  REQUIRE(train.size() == 2);
  const image::simple_transform steps[2] = {
      {.resize_size = 24, .crop_size = 6, .mean = {100, 110, 120}},
      {.resize_size = 7, .crop_size = 7, .mean = {100, 110, 120}}};
  lamina::reader::random unused(0, 0, 0);
  std::string line;
  for (int i = 0; i < 2; ++i) {
    REQUIRE(std::getline(lines, line));
    const auto s = train[static_cast<std::size_t>(1 - i)];
    const auto found = steps[i](s, 0, 0, unused);
    CHECK(found.label == s.label);
    std::istringstream numbers(line);
    int furthest = 0;
    for (const float x : found.image) {
      int expected = 0;
      REQUIRE(numbers >> expected);
      furthest = (std::max)(furthest, std::abs(expected - static_cast<int>(x)));
    }
    CHECK_FALSE(numbers >> line);
    CHECK(furthest <= 1);
  }
}

TEST_CASE("in training, images are cut and mirrored at random, and the same with any threads") {
  const auto read = [](lamina::reader::element_count threads) {
    std::vector<std::vector<float>> images;
    auto reader = all_flowers().train() |
                  lamina::reader::xmap(
                      image::simple_transform{.is_train = true, .resize_size = 12, .crop_size = 5},
                      threads, 4, true);
    for (std::uint64_t pass = 0; pass < 20; ++pass)
      for (auto&& s : lamina::reader::begin_pass(reader, pass)) images.push_back(s.image);
    return images;
  };
  const auto images = read(1);
  REQUIRE(images.size() == 40);
  CHECK(images == read(3));
  CHECK(std::set<std::vector<float>>(images.begin(), images.end()).size() > 30);
  for (const auto& i : images) CHECK(i.size() == 75);
}

TEST_CASE("images that cannot be cut, and damaged ones") {
  lamina::reader::random random(0, 0, 0);
  auto s = all_flowers().train()[0];
  const image::simple_transform too_large{.resize_size = 8, .crop_size = 9};
  CHECK_THROWS_WITH(too_large(s, 0, 0, random),
                    Catch::Contains("expected 1 to 8 pixels of a crop, found 9"));
  s.bytes.resize(s.bytes.size() / 2);
  const image::simple_transform usual;
  CHECK_THROWS_WITH(usual(s, 0, 0, random),
                    Catch::Contains("102flowers.tgz: jpg/image_0000") && Catch::Contains("JPEG: "));
}
