// SPDX-License-Identifier: Apache-2.0
// Photographs of VOC2012 and their masks: as PaddlePaddle decodes them, and damaged.
#include <array>
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "dataset/data_archives.hpp"
#include <catch2/catch.hpp>

#include <lamina/image/segmented.hpp>

namespace image = lamina::image;
namespace voc2012 = lamina::dataset::voc2012;
using Catch::Contains;

namespace {

voc2012::data photographs() {
  return voc2012::read(test::data_archive("VOCtrainval_11-May-2012.tar"));
}

}  // namespace

TEST_CASE("segmented images are decoded as PaddlePaddle does") {
  const auto all = photographs();
  test::report found;
  for (const auto& part : {all.train(), all.test(), all.val()})
    for (const auto& s : part) {
      const auto read = image::decode_segmented(s);
      std::vector<int> pixels;
      for (const float x : read.image.pixels)
        pixels.push_back(static_cast<int>(std::lround(255 * x)));
      found.fields(std::array{read.image.height, read.image.width, 3}, pixels, read.classes);
    }
  found.check("voc2012");
}

TEST_CASE("segmented images of a fixed size") {
  const auto photograph =
      photographs().val()[0];  // rows of 0, 15, 20, 255, 0, 15; then 20, 255 ...
  const auto same = image::load_segmented<4, 6>()(photograph);
  CHECK(same.image == image::decode_segmented(photograph).image.pixels);
  CHECK(same.classes[1] == 15);
  CHECK(same.classes[3] == 255);
  const auto half = image::load_segmented<2, 3>()(photograph);
  CHECK(half.image.size() == 18);
  CHECK(half.classes == std::vector<std::int64_t>{255, 15, 255, 255, 15, 255});
  const auto square = image::load_segmented<4, 4>(image::fit::cover)(photograph);
  CHECK(square.classes ==
        std::vector<std::int64_t>{15, 20, 255, 0, 255, 0, 15, 20, 15, 20, 255, 0, 255, 0, 15, 20});
}

TEST_CASE("photographs and masks that are damaged or do not fit") {
  const auto all = photographs();
  auto s = all.val()[0];
  s.mask = all.test()[0].mask;
  CHECK_THROWS_WITH(image::decode_segmented(s),
                    Contains("(mask)") && Contains("a mask of 4 * 6 pixels, found 5 * 3"));
  s = all.val()[0];
  s.mask[25] = 2;  // colours in place of a palette
  CHECK_THROWS_AS(image::decode_segmented(s), lamina::format_error);
  s.mask = s.bytes;
  CHECK_THROWS_WITH(image::decode_segmented(s), Contains("PNG: "));
  s = all.val()[0];
  for (std::size_t n = 0; n < s.mask.size(); ++n) {
    auto changed = s;
    changed.mask.resize(n);
    CHECK_THROWS_AS(image::decode_segmented(changed), lamina::format_error);
  }
}
