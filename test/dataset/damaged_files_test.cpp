// SPDX-License-Identifier: Apache-2.0
// Data sets in text and in small records, cut short anywhere and with any bit wrong: other samples,
// or an error that names the file.
#include <cstddef>
#include <functional>
#include <string>

#include "dataset/temporary_file.hpp"
#include <catch2/catch.hpp>

#include <lamina/dataset/cifar.hpp>
#include <lamina/dataset/housing.hpp>
#include <lamina/dataset/mnist.hpp>
#include <lamina/dataset/movie_reviews.hpp>
#include <lamina/dataset/text.hpp>

namespace dataset = lamina::dataset;

namespace {

/// A file of a folder, its bytes, and how all its samples are read.
struct small_file {
  std::string folder, name, bytes;
  std::function<void()> read;
  std::size_t refused = 0;

  /// Whether these bytes are read.
  bool takes(const std::string& changed) {
    std::ofstream(folder + "/" + name, std::ios::binary) << changed;
    try {
      read();
      return true;
    } catch (const lamina::format_error& e) {
      ++refused;
      CHECK_THAT(e.file(), Catch::EndsWith(name));
      CHECK(e.offset() <= changed.size());
      return false;
    }
  }
  /// Cuts it after every byte, and turns every bit of every `step`-th byte.
  void damage(std::size_t step = 1) {
    REQUIRE(takes(bytes));
    for (std::size_t n = 0; n < bytes.size(); n += step) takes(bytes.substr(0, n));
    for (std::size_t n = 0; n < bytes.size(); n += step)
      for (int bit = 0; bit < 8; ++bit) {
        std::string changed = bytes;
        changed[n] = static_cast<char>(changed[n] ^ 1 << bit);
        takes(changed);
      }
    CHECK(refused > 0);
  }
};

template <class Table>
void read_all(const Table& table) {
  for (std::size_t i = 0; i < table.size(); ++i) (void)table[i];
}

}  // namespace

TEST_CASE("damaged files of housing", "[dataset]") {
  const test::temporary_directory folder;
  std::string lines = "\"a\",b,c,d,e,f,g,h,i,j,k,l,m,n\r\n";
  for (int row = 0; row < 3; ++row)
    for (int column = 0; column < 14; ++column)
      lines += std::to_string((row * 7 + column * 3) % 11) + (column == 13 ? ".5\n" : "e-1 ,");
  small_file{folder.path(), "housing.csv", lines,
             [&] {
               const auto all = dataset::housing::read(folder.path() + "/housing.csv");
               read_all(all.train());
               read_all(all.test());
             }}
      .damage();
}

TEST_CASE("damaged texts", "[dataset]") {
  const test::temporary_directory folder;
  small_file{folder.path(), "text",
             "two bytes \xc3\xa4, three \xe2\x82\xac, four \xf0\x9d\x84\x9e\n",
             [&] {
               const auto all = dataset::text::read(folder.path() + "/text", {.held_out = 0.5});
               read_all(all.train(5));
               read_all(all.test(3));
             }}
      .damage();
}

TEST_CASE("damaged movie reviews", "[dataset]") {
  const test::temporary_directory folder;
  folder.write("rt-polarity.neg", "a bad film\nsad it was\n");
  small_file{folder.path(), "rt-polarity.pos", "a fine film\nso good ,\tit was\r\n",
             [&] {
               const auto all = dataset::movie_reviews::read(folder.path(), 20);
               read_all(all.train());
               read_all(all.test());
             }}
      .damage();
}

TEST_CASE("damaged labels of MNIST", "[dataset]") {
  const test::temporary_directory folder;
  folder.write("images", test::big(0x0803) + test::big(2) + test::big(28) + test::big(28) +
                             std::string(2 * 784, 'x'));
  small_file{
      folder.path(), "labels", test::big(0x0801) + test::big(2) + std::string{3, 9},
      [&] { read_all(dataset::mnist::read(folder.path() + "/images", folder.path() + "/labels")); }}
      .damage();
}

TEST_CASE("damaged records of CIFAR", "[dataset]") {
  const test::temporary_directory folder;
  const std::string pixels(3072, 'x');
  small_file{folder.path(), "test.bin", std::string{4, 77} + pixels + std::string{19, 99} + pixels,
             [&] { read_all(dataset::cifar::test100(folder.path())); }}
      .damage(3075 / 25);  // byte 0 is a label of the first record, 3075 one of the second
}
