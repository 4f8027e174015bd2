// SPDX-License-Identifier: Apache-2.0
// Film reviews of aclImdb: as PaddlePaddle reads them, and damaged.
#include <array>
#include <string>

#include "dataset/data_archives.hpp"
#include <catch2/catch.hpp>

#include <lamina/dataset/imdb.hpp>

namespace imdb = lamina::dataset::imdb;

namespace {

lamina::dataset::archive_members reviews() {
  lamina::dataset::archive_members files{"made up"};
  for (const char* folder : {"train/pos", "train/neg", "test/pos", "test/neg"})
    files.add(std::string("aclImdb/") + folder + "/0_5.txt", std::string("a film of ") + folder);
  return files;
}

}  // namespace

TEST_CASE("film reviews are read as PaddlePaddle does") {
  const auto reviews = imdb::read(test::data_archive("aclImdb_v1.tar.gz"), {.cutoff = 1});
  test::report found;
  found.line(test::spelled(reviews.word_dict()));
  for (const auto& part : {reviews.train(), reviews.test()}) {
    found.line("reviews");
    for (const auto& [words, label] : part) found.fields(words, std::array{label});
  }
  found.check("imdb");
}

TEST_CASE("damaged film reviews are refused") {
  const auto read = [](const lamina::dataset::archive_members& files) {
    imdb::source(files, {.cutoff = 0});
  };
  read(reviews());
  const std::string name = "aclImdb/test/pos/0_5.txt";
  test::check_refused(reviews(), name, "", 0, "expected a review, found an empty member", read);
  test::check_refused(reviews(), name, "caf\xe9", 3, "expected UTF-8", read);
  auto files = reviews();
  files.all.erase(files.all.begin() + 2);
  CHECK_THAT(test::message_of([&] { read(files); }),
             Catch::Contains("expected members 'aclImdb/test/pos/*.txt', found none"));
  CHECK_THAT(test::message_of([&] { imdb::source s(reviews()); }),
             Catch::Contains("more than 150 times"));
  CHECK_THAT(test::message_of([&] { imdb::read(test::data_archive("simple-examples.tgz")); }),
             Catch::Contains("expected members 'aclImdb/train/pos/*.txt'"));
}

TEST_CASE("damaged archives of film reviews") {
  test::damage(test::tar_bytes(reviews()), 37, [](const std::string& path) {
    const auto all = imdb::read(path, {.cutoff = 0});
    for (const auto& part : {all.train(), all.test()})
      for (const auto& [words, label] : part)
        for (const auto id : words) CHECK(id < all.word_dict().size());
  });
}
