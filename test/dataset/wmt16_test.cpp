// SPDX-License-Identifier: Apache-2.0
// Translations of WMT-16: as PaddlePaddle reads them, and damaged.
#include <string>
#include <utility>

#include "dataset/data_archives.hpp"
#include <catch2/catch.hpp>

#include <lamina/dataset/wmt16.hpp>

namespace wmt16 = lamina::dataset::wmt16;
using wmt16::language;

namespace {

lamina::dataset::archive_members texts() {
  lamina::dataset::archive_members files{"made up"};
  files.add("wmt16/train", "a dog\tein Hund\na\tein\n");
  files.add("wmt16/test", "a\tein\n");
  files.add("wmt16/val", "dog\tHund\n");
  return files;
}

}  // namespace

TEST_CASE("WMT-16 is read as PaddlePaddle does") {
  test::report found;
  for (const auto& [source_size, target_size, from] :
       {std::tuple{7, 9, language::en}, {30, 30, language::en}, {30, 8, language::de}}) {
    const auto all = wmt16::read(test::data_archive("wmt16.tar.gz"), {.src_dict_size = source_size,
                                                                      .trg_dict_size = target_size,
                                                                      .src_lang = from,
                                                                      .skip_malformed = true});
    found.pairs(all.train());
    found.pairs(all.test());
    found.pairs(all.validation());
    found.line(test::spelled(all.src_dict()));
    found.line(test::spelled(all.trg_dict()));
    CHECK(all.malformed() == 1);
  }
  found.check("wmt16");
}

TEST_CASE("marks in a text are the marks of the dictionary") {
  auto files = texts();
  files.all[0].bytes = "a <unk> <s>\tein\n";
  const wmt16::source all(files);
  CHECK(test::spelled(all.src_dict()) == "<s> <e> <unk> a");
  CHECK(all.train()[0].source == std::vector<std::int64_t>{0, 3, 2, 0, 1});
}

TEST_CASE("damaged texts of WMT-16 are refused") {
  const auto read = [](const lamina::dataset::archive_members& files) { wmt16::source s(files); };
  read(texts());
  for (const std::string name : {"wmt16/train", "wmt16/test", "wmt16/val"}) {
    test::check_refused(texts(), name, "a\tein\nno tab\n", 6,
                        "line 2: expected 2 fields with a tab", read);
    test::check_refused(texts(), name, "a\tein\n \n", 6, "found an empty line", read);
    test::check_refused(texts(), name, "a\t\xc4pfel\n", 2, "found the byte 196", read);
    test::check_refused(texts(), name, "", 0, "found an empty member", read);
    auto files = texts();
    std::erase_if(files.all, [&](const auto& m) { return m.name == name; });
    CHECK_THAT(test::message_of([&] { read(files); }),
               Catch::Contains("expected the member '" + name + "', found none"));
  }
  CHECK_THAT(test::message_of([] { wmt16::source s(texts(), {.trg_dict_size = 2}); }),
             Catch::Contains("a dictionary size of at least 3"));
}

TEST_CASE("damaged archives of WMT-16") {
  test::damage(test::tar_bytes(texts()), 31, [](const std::string& path) {
    const auto all = wmt16::read(path);
    for (const auto& part : {all.train(), all.test(), all.validation()})
      for (const auto& [source, target, next] : part) CHECK(target.size() == next.size());
  });
}
