// SPDX-License-Identifier: Apache-2.0
// The digits have the counts of scikit-learn.
#include <array>
#include <set>

#include <catch2/catch.hpp>

#include <lamina/dataset/digits.hpp>

namespace digits = lamina::dataset::digits;

namespace {

std::array<int, 10> labels(const lamina::dataset::table<digits::source>& rows) {
  std::array<int, 10> count{};
  for (const auto& s : rows) ++count.at(static_cast<std::size_t>(s.label));
  return count;
}

}  // namespace

TEST_CASE("the digits have the numbers scikit-learn counts", "[dataset]") {
  const auto train = digits::train(), test = digits::test();
  REQUIRE(train.size() == 1437);
  REQUIRE(test.size() == 360);
  const std::array<int, 10> all{178, 182, 177, 183, 181, 182, 181, 179, 174, 180};
  const auto a = labels(train), b = labels(test);
  for (std::size_t c = 0; c < 10; ++c) {
    CHECK(a[c] + b[c] == all[c]);
    CHECK((b[c] >= 34 && b[c] <= 37));  // stratified
  }
  double sum = 0;
  std::set<std::array<float, 64>> images;
  for (auto& part : {train, test})
    for (auto [image, label] : part) {
      images.insert(image);
      for (float p : image) {
        if (p < 0.f || p > 1.f) FAIL("a pixel of " << p);
        sum += static_cast<double>(p) * 16;
      }
    }
  CHECK(sum == 561718);  // of all pixels before scaling
  CHECK(images.size() == 1797);
}
