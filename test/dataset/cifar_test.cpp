// SPDX-License-Identifier: Apache-2.0
#include <string>

#include "dataset/temporary_file.hpp"
#include <catch2/catch.hpp>

#include <lamina/dataset/cifar.hpp>

namespace cifar = lamina::dataset::cifar;
using lamina::format_error;

namespace {

std::string record(const std::string& labels, char pixel) {
  return labels + std::string(3072, pixel);
}

}  // namespace

TEST_CASE("CIFAR files become samples, one file after the other", "[dataset]") {
  const test::temporary_directory folder;
  for (int i = 1; i <= 5; ++i) {
    std::string bytes = record(std::string(1, static_cast<char>(i)), '\0');
    bytes += record("\x09", '\xff');
    bytes[3073 + 1 + 1024] = 51;
    folder.write("data_batch_" + std::to_string(i) + ".bin", bytes);
  }
  folder.write("test_batch.bin", record("\2", '\1'));
  const auto train = cifar::train10(folder.path());
  REQUIRE(train.size() == 10);
  CHECK(train[4].label == 3);
  CHECK(train[4].image[3071] == 0.f);
  const cifar::sample last = train[9];
  CHECK(last.label == 9);
  CHECK(last.image[0] == 1.f);
  CHECK(last.image[1024] == Approx(51 / 255.));
  CHECK(last.image[3071] == 1.f);
  const auto test = cifar::test10(folder.path());
  REQUIRE(test.size() == 1);
  CHECK(test[0].image[17] == Approx(1 / 255.));
  folder.write("train.bin", record("\x13\x63", '\0') + record(std::string("\0\1", 2), '\xff'));
  const auto hundred = cifar::train100(folder.path());
  REQUIRE(hundred.size() == 2);
  CHECK(hundred[0].label == 99);
  CHECK(hundred[1].label == 1);
  CHECK(hundred[1].image[0] == 1.f);
}

TEST_CASE("CIFAR files that are damaged, foreign or not there", "[dataset]") {
  const test::temporary_directory folder;
  CHECK_THROWS_WITH(cifar::test10(folder.path()),
                    Catch::Contains("test_batch.bin") && Catch::Contains(folder.path()));
  const auto fails = [&](const std::string& bytes, const std::string& text) {
    folder.write("test_batch.bin", bytes);
    CHECK_THROWS_AS(cifar::test10(folder.path()), format_error);
    CHECK_THROWS_WITH(cifar::test10(folder.path()), Catch::Contains(text));
  };
  fails("", "the file ends after 0 of record 0");
  fails(record("\1", 'x').substr(0, 3072), "the file ends after 3072 of record 0");
  fails(record("\1", 'x') + "\1", "the file ends after 1 of record 1");
  fails(record("\1", 'x') + record("\x0a", 'x'), "offset 3073");
  fails(record("\1", 'x') + record("\x0a", 'x'), "a label of 0 to 9, found 10");
  folder.write("test.bin", record("\x14\1", 'x'));
  CHECK_THROWS_WITH(cifar::test100(folder.path()), Catch::Contains("0 to 19, found 20"));
  folder.write("test.bin", record("\x13\x64", 'x'));
  CHECK_THROWS_WITH(cifar::test100(folder.path()),
                    Catch::Contains("0 to 99, found 100") && Catch::Contains("offset 1"));
}
