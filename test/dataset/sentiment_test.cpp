// SPDX-License-Identifier: Apache-2.0
// Film reviews by the words of NLTK: as PaddlePaddle 1.8 reads them, and damaged.
#include <array>
#include <string>

#include "dataset/data_archives.hpp"
#include <catch2/catch.hpp>

#include <lamina/dataset/sentiment.hpp>

namespace sentiment = lamina::dataset::sentiment;

namespace {

lamina::dataset::archive_members reviews() {
  lamina::dataset::archive_members files{"made up"};
  files.add("movie_reviews/neg/a.txt", "a bad film.");
  files.add("movie_reviews/pos/b.txt", "a good film!");
  return files;
}

}  // namespace

TEST_CASE("film reviews of NLTK are read as PaddlePaddle does") {
  const auto all = sentiment::read(test::data_archive("movie_reviews.zip"), {.train_samples = 3});
  test::report found;
  found.line(test::spelled(all.word_dict()));
  for (const auto& part : {all.train(), all.test()}) {
    found.line("reviews");
    for (const auto& [words, label] : part) found.fields(words, std::array{label});
  }
  found.check("sentiment");
}

TEST_CASE("damaged film reviews of NLTK are refused") {
  const auto read = [](const lamina::dataset::archive_members& files) {
    sentiment::source(files, {.train_samples = 1});
  };
  read(reviews());
  const std::string name = "movie_reviews/pos/b.txt";
  test::check_refused(reviews(), name, "", 0, "expected a review, found an empty member", read);
  test::check_refused(reviews(), name, "caf\xe9", 3, "expected ASCII, found the byte 233", read);
  test::check_refused(reviews(), name, "a Film or Two", 10, "small letters, found 'Two'", read);
  auto files = reviews();
  files.add("movie_reviews/pos/c.txt", "more");
  using Catch::Contains;
  CHECK_THAT(test::message_of([&] { read(files); }), Contains("found 1 and 2"));
  files.all.erase(files.all.begin());
  CHECK_THAT(test::message_of([&] { read(files); }),
             Contains("expected members 'movie_reviews/neg/*.txt', found none"));
  CHECK_THAT(test::message_of([&] { sentiment::source s(reviews()); }),
             Contains("expected at least 1600 reviews, found 2"));
  CHECK_THAT(test::message_of([&] { sentiment::read(test::data_archive("ml-1m.zip")); }),
             Contains("expected members 'movie_reviews/"));
}

TEST_CASE("damaged archives of film reviews of NLTK") {
  const auto bytes = lamina::read_file(test::data_archive("movie_reviews.zip"));
  test::damage(bytes, 3, [](const std::string& path) {
    const auto all = sentiment::read(path, {.train_samples = 3});
    for (const auto& part : {all.train(), all.test()})
      for (const auto& [words, label] : part)
        for (const auto id : words) CHECK(id < all.word_dict().size());
  });
}
