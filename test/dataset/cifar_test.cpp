// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <cmath>
#include <cstddef>
#include <string>
#include <vector>

#include "dataset/data_archives.hpp"
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

TEST_CASE("CIFAR's archives for Python are read as PaddlePaddle does", "[dataset]") {
  test::report found;
  const auto add = [&](const char* name, const auto& table) {
    found.line(name);
    for (const auto& [image, label] : table) {
      std::vector<int> pixels;
      for (std::size_t i = 0; i < image.size(); i += 97)
        pixels.push_back(static_cast<int>(std::lround(255 * image[i])));
      found.fields(std::array{label}, pixels);
    }
  };
  const auto ten = test::data_archive("cifar-10-python.tar.gz");
  const auto hundred = test::data_archive("cifar-100-python.tar.gz");
  add("train10", cifar::train10(ten));
  add("test10", cifar::test10(ten));
  add("train100", cifar::train100(hundred));
  add("test100", cifar::test100(hundred));
  found.check("cifar");
  CHECK_THROWS_WITH(cifar::train10(hundred),
                    Catch::Contains("a member whose name contains 'data_batch', found none"));
  CHECK(cifar::test100(ten).size() == 1);  // test_batch, as in PaddlePaddle
  CHECK_THROWS_WITH(cifar::test10(hundred), Catch::Contains("'test_batch', found none"));
  CHECK_THROWS_WITH(cifar::train10(ten + ".none"), Catch::Contains("cannot be opened"));
}

TEST_CASE("batches of CIFAR for Python that are no batches", "[dataset]") {
  const auto refused = [](const std::string& pickle) {
    lamina::dataset::archive_members files{"made up"};
    files.add("data_batch_1", pickle);
    const test::temporary_directory folder;
    const auto path = folder.write("a.tar", test::tar_bytes(files));
    return test::message_of([&] { cifar::train10(path); });
  };
  using Catch::Contains;
  CHECK_THAT(refused("}."), Contains("'data_batch_1': pickle: CIFAR: expected a dictionary"));
  CHECK_THAT(refused("}(U\4data]U\6labels]u."), Contains("or another shape"));
  CHECK_THAT(refused("}(U\4dataNU\6labelsNu."), Contains("expected a list of labels"));
  CHECK_THAT(refused("not a pickle"), Contains("offset 512") && Contains("found the byte 110"));
}

TEST_CASE("damaged archives of CIFAR for Python", "[dataset]") {
  lamina::binary_reader from(test::data_archive("cifar-10-python.tar.gz"),
                             lamina::detail::unpack_gzip);
  std::string bytes = from.bytes(from.left(), "an archive");
  test::damage(bytes, 211, [](const std::string& path) {
    for (const auto& s : cifar::train10(path)) CHECK((s.label >= 0 && s.label < 10));
  });
}
