// SPDX-License-Identifier: Apache-2.0
// Translations of WMT-14: as PaddlePaddle reads them, and damaged.
#include <string>

#include "dataset/data_archives.hpp"
#include <catch2/catch.hpp>

#include <lamina/dataset/wmt14.hpp>

namespace wmt14 = lamina::dataset::wmt14;

namespace {

lamina::dataset::archive_members texts() {
  lamina::dataset::archive_members files{"made up"};
  files.add("wmt14/src.dict", "<s>\n<e>\n<unk>\nle\nchat\n");
  files.add("wmt14/trg.dict", "<s>\n<e>\n<unk>\nthe\ncat\n");
  files.add("wmt14/train/train", "le chat\tthe cat\nchat\tcat\n");
  return files;
}

}  // namespace

TEST_CASE("WMT-14 is read as PaddlePaddle does") {
  test::report found;
  for (const int size : {8, 30000}) {
    const auto all =
        wmt14::read(test::data_archive("wmt14.tgz"), {.dict_size = size, .skip_malformed = true});
    found.line(test::spelled(all.src_dict()));
    found.line(test::spelled(all.trg_dict()));
    found.pairs(all.train());
    found.pairs(all.test());
    found.pairs(all.gen());
  }
  found.check("wmt14");
  CHECK_THAT(test::message_of([] { wmt14::read(test::data_archive("wmt14.tgz")); }),
             Catch::Contains("'wmt14/train/train': line 3: expected 2 fields with a tab"));
}

TEST_CASE("damaged texts of WMT-14 are refused") {
  const auto read = [](const lamina::dataset::archive_members& files) { wmt14::source s(files); };
  read(texts());
  const std::string train = "wmt14/train/train", words = "wmt14/trg.dict";
  test::check_refused(texts(), train, "le\tthe\n\nle\tthe", 7,
                      "line 2: expected 2 fields, found an empty line", read);
  test::check_refused(texts(), train, "le\tthe\tcat", 0, "found 3", read);
  test::check_refused(texts(), train, "\tthe", 0, "found 1", read);
  test::check_refused(texts(), train, "le\tth\xe9", 5, "expected UTF-8", read);
  test::check_refused(texts(), train, "", 0, "found an empty member", read);
  test::check_refused(texts(), words, "<s>\n<unk>\n<e>\n", 4,
                      "line 2: expected '<e>', found '<unk>'", read);
  test::check_refused(texts(), words, "<s>\n<e>\n", 8, "found 2 words", read);
  test::check_refused(texts(), words, "<s>\n<e>\n<unk>\n\nthe\n", 14,
                      "line 4: expected a word of the dictionary, found an empty line", read);
  test::check_refused(texts(), words, "<s>\n<e>\n<unk>\nth\xe9\n", 16, "expected UTF-8", read);
  auto two = texts();
  two.add("other/src.dict", "<s>\n<e>\n<unk>\n");
  CHECK_THAT(test::message_of([&] { read(two); }),
             Catch::Contains("expected one member whose name ends in 'src.dict', found "
                             "'wmt14/src.dict' too"));
  for (std::size_t absent = 0; absent < 3; ++absent) {
    auto files = texts();
    files.all.erase(files.all.begin() + static_cast<std::ptrdiff_t>(absent));
    CHECK_THAT(test::message_of([&] { read(files); }),
               Catch::Contains("expected a member whose name ends in '") &&
                   Catch::Contains("', found none"));
  }
  const wmt14::source all(texts());
  CHECK_THAT(test::message_of([&] { (void)all.test(); }),
             Catch::Contains("made up, offset 0: expected a member whose name ends in "
                             "'test/test', found none"));
  CHECK_THAT(test::message_of([] { wmt14::source s(texts(), {.dict_size = 2}); }),
             Catch::Contains("a dictionary size of at least 3"));
}

TEST_CASE("lines that are left out are counted") {
  auto files = texts();
  files.add("wmt14/test/test", "no tab\n" + std::string(79 * 5, 'x') + "\tcat\n");
  std::string& test = files.all.back().bytes;
  for (std::size_t at = 0; (at = test.find("xxxxx", at)) != test.npos;)
    test.replace(at, 5, "chat ");
  const wmt14::source all(files, {.skip_malformed = true});
  CHECK(all.test().empty());
  CHECK(all.train().size() == 2);
  CHECK(all.too_long() == 1);
  CHECK(all.malformed() == 1);
}

TEST_CASE("damaged archives of WMT-14") {
  test::damage(test::tar_bytes(texts()), 41, [](const std::string& path) {
    for (const auto& [source, target, next] : wmt14::read(path).train())
      CHECK(target.size() == next.size());
  });
}
