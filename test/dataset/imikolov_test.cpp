// SPDX-License-Identifier: Apache-2.0
// The Penn Treebank: as PaddlePaddle reads it, and damaged.
#include <string>

#include "dataset/data_archives.hpp"
#include <catch2/catch.hpp>

#include <lamina/dataset/imikolov.hpp>
#include <lamina/reader/reader.hpp>

namespace imikolov = lamina::dataset::imikolov;

namespace {

const std::string train_name(imikolov::source::train_name);
const std::string test_name(imikolov::source::test_name);

lamina::dataset::archive_members texts(const std::string& train, const std::string& test) {
  lamina::dataset::archive_members files{"made up"};
  files.add(train_name, train);
  files.add(test_name, test);
  return files;
}

}  // namespace

TEST_CASE("the Penn Treebank is read as PaddlePaddle does") {
  const auto ptb = imikolov::read(test::data_archive("simple-examples.tgz"), {.min_word_freq = 1});
  test::report found;
  found.line(test::spelled(ptb.word_dict()));
  for (const bool is_test : {false, true}) {
    found.line("n-grams");
    for (const auto& words : is_test ? ptb.test<5>() : ptb.train<5>()) found.fields(words);
    found.line("sequences");
    for (const auto& [words, next] : is_test ? ptb.test_sequences(6) : ptb.train_sequences(6))
      found.fields(words, next);
  }
  found.check("imikolov");
  CHECK(ptb.train_sequences().size() == 6);
  CHECK(ptb.train<1>().size() == 40);
  CHECK(ptb.train<9>().size() == 2);
  CHECK(ptb.train<11>().empty());
  CHECK(ptb.word_dict().unknown() == ptb.word_dict().size() - 1);
}

TEST_CASE("n-grams go through a reader") {
  const auto ptb = imikolov::source(texts("a b c\nb c\n", "c\n"), {.min_word_freq = 0});
  std::size_t count = 0;
  for (auto&& batch : lamina::reader::begin_pass(ptb.train<3>() | lamina::reader::shuffle(10) |
                                                 lamina::reader::batch(2)))
    count += batch.size();
  CHECK(count == 5);
}

TEST_CASE("damaged texts of the Penn Treebank are refused") {
  const auto read = [](const lamina::dataset::archive_members& files) {
    imikolov::source(files, {.min_word_freq = 0});
  };
  const auto files = texts("a b\n", "a\n");
  test::check_refused(files, train_name, "a b\n\nc\n", 4, "line 2: expected a sentence", read);
  test::check_refused(files, test_name, "a \n \t\n", 3, "found an empty line", read);
  test::check_refused(files, train_name, "a \xe9\n", 2, "found the byte 233", read);
  test::check_refused(files, test_name, "", 0, "found an empty member", read);
  lamina::dataset::archive_members one{"made up"};
  one.add(train_name, "a\n");
  CHECK_THAT(test::message_of([&] { read(one); }),
             Catch::Contains("made up, offset 0: expected the member '" + test_name + "'"));
  CHECK_THAT(test::message_of([&] { imikolov::source s(files); }),
             Catch::Contains("made up, offset 0: expected a word that occurs more than 50 times"));
  // "a" alone is frequent: n-grams have marks that are unknown, sentences have none.
  const imikolov::source rare(texts("a a a b\n", "a\n"), {.min_word_freq = 3});
  CHECK(rare.train<2>()[0] == std::array<std::int64_t, 2>{1, 0});
  CHECK_THAT(test::message_of([&] { (void)rare.train_sequences(); }),
             Catch::Contains("expected '<s>' in the dictionary"));
}

TEST_CASE("damaged archives of the Penn Treebank") {
  test::damage(test::tar_bytes(texts("the cat sat\non a mat\n", "the mat\n")), 31,
               [](const std::string& path) {
                 const auto ptb = imikolov::read(path, {.min_word_freq = 0});
                 for (const auto& words : ptb.train<3>()) CHECK(words[0] >= 0);
                 for (const auto& [words, next] : ptb.test_sequences())
                   CHECK(words.size() == next.size());
               });
}
