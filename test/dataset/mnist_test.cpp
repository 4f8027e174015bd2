// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <cstdint>
#include <string>

#include "dataset/temporary_file.hpp"
#include <catch2/catch.hpp>

#include <lamina/dataset/mnist.hpp>

namespace mnist = lamina::dataset::mnist;
using lamina::format_error;
using test::big;

namespace {

std::string images(std::uint32_t count) {
  return big(0x0803) + big(count) + big(28) + big(28) + std::string(count * 784, '\xff');
}
std::string labels(const std::string& digits) { return big(0x0801) + big(digits.size()) + digits; }

}  // namespace

TEST_CASE("MNIST files become samples on Fluid's scale", "[dataset]") {
  const test::temporary_directory folder;
  std::string pixels = images(3);
  pixels[16 + 784] = 0;
  pixels[16 + 785] = 51;
  folder.write("train-images-idx3-ubyte", pixels);
  folder.write("train-labels-idx1-ubyte", std::string(labels(std::string("\3\0\x09", 3))));
  const auto train = mnist::train(folder.path());
  REQUIRE(train.size() == 3);
  auto [image, label] = train[1];
  CHECK(label == 0);
  CHECK(image[0] == -1.f);
  CHECK(image[1] == Approx(51 / 255. * 2 - 1));
  CHECK(image[2] == 1.f);
  int sum = 0, count = 0;
  for (int pass = 0; pass < 2; ++pass)
    for (const mnist::sample& s : train) sum += static_cast<int>(s.label), ++count;
  CHECK(sum == 24);
  CHECK(count == 6);
}

TEST_CASE("MNIST files that do not belong together", "[dataset]") {
  const test::temporary_directory folder;
  const auto three = folder.write("three", images(3)), two = folder.write("two", labels("\1\2"));
  CHECK_THROWS_WITH(mnist::read(three, two), Catch::Contains("one label for each of 3 images") &&
                                                 Catch::Contains("found 2") &&
                                                 Catch::Contains(two));
  CHECK_THROWS_AS(mnist::read(two, two), format_error);
  CHECK_THROWS_AS(mnist::read(three, three), format_error);
  const auto narrow =
      folder.write("narrow", big(0x0803) + big(1) + big(27) + big(28) + std::string(27 * 28, 'x'));
  CHECK_THROWS_WITH(mnist::read(narrow, two), Catch::Contains("28 x 28"));
  const auto bytes = folder.write("signed", big(0x0901) + big(3) + "\1\2\3");
  CHECK_THROWS_WITH(mnist::read(three, bytes), Catch::Contains("unsigned bytes"));
  const auto ten = folder.write("ten", labels("\1\2\x0a"));
  CHECK_THROWS_WITH(mnist::read(three, ten),
                    Catch::Contains("offset 10") && Catch::Contains("found 10"));
  CHECK_THROWS_WITH(mnist::train(folder.path()),
                    Catch::Contains("train-images-idx3-ubyte") && Catch::Contains(folder.path()));
}

TEST_CASE("the real MNIST test file", "[dataset]") {
  LAMINA_NEEDS_REAL_DATA("mnist/t10k-images-idx3-ubyte.gz");
  const auto [train, test] = mnist::split_test(test::real_data() + "/mnist");
  REQUIRE(train.size() == 8000);
  REQUIRE(test.size() == 2000);
  // The first labels and the counts of the classes are published facts of the file.
  const std::array<std::int64_t, 10> first{7, 2, 1, 0, 4, 1, 4, 9, 5, 9};
  for (std::size_t i = 0; i < 10; ++i) CHECK(train[i].label == first[i]);
  std::array<int, 10> count{};
  for (auto& part : {train, test})
    for (const auto& s : part) {
      ++count[static_cast<std::size_t>(s.label)];
      const auto [low, high] = std::minmax_element(s.image.begin(), s.image.end());
      if (*low != -1.f || *high <= 0.5f || *high > 1.f) FAIL("an image without paper or ink");
    }
  CHECK(count == std::array<int, 10>{980, 1135, 1032, 1010, 982, 892, 958, 1028, 974, 1009});
  CHECK_THROWS_AS(mnist::split_test(test::real_data() + "/mnist", 10001), lamina::error);
}
