// SPDX-License-Identifier: Apache-2.0
// Photographs of VOC2012 as files, and damaged archives. image/segmented_test decodes them.
#include <string>
#include <utility>

#include "dataset/data_archives.hpp"
#include <catch2/catch.hpp>

#include <lamina/dataset/voc2012.hpp>

namespace voc2012 = lamina::dataset::voc2012;
using Catch::Contains;

namespace {

lamina::dataset::archive_members photographs() {
  lamina::dataset::archive_members files{"made up"};
  const std::string folder = "VOCdevkit/VOC2012/";
  files.add(folder + "JPEGImages/a.jpg", "a photograph");
  files.add(folder + "SegmentationClass/a.png", "a mask");
  for (const char* part : {"train", "val", "trainval"})
    files.add(folder + "ImageSets/Segmentation/" + part + ".txt", "a\n");
  return files;
}
std::string message(const lamina::dataset::archive_members& files) {
  const test::temporary_directory folder;
  const auto path = folder.write("voc.tar", test::tar_bytes(files));
  return test::message_of([&] { voc2012::read(path).train(); });
}

}  // namespace

TEST_CASE("photographs and masks of VOC2012 are found by their lists") {
  const auto all = voc2012::read(test::data_archive("VOCtrainval_11-May-2012.tar"));
  CHECK(all.train().size() == 2);
  REQUIRE(all.test().size() == 1);
  CHECK_THAT(all.test()[0].name, Contains("JPEGImages/2007_000039.jpg"));
  REQUIRE(all.val().size() == 1);
  CHECK_THAT(all.val()[0].bytes, Catch::StartsWith("\xff\xd8\xff"));
  CHECK_THAT(all.val()[0].mask, Catch::StartsWith("\x89PNG"));
  CHECK(all.val()[0].mask == all.train()[0].mask);
}

TEST_CASE("archives that are none of VOC2012") {
  CHECK(message(photographs()) == "none");
  auto files = photographs();
  files.all[4].bytes = "a\nb\n";
  CHECK_THAT(message(files), Contains("line 2: expected the member") && Contains("b.jpg"));
  files.all[4].bytes = "";
  CHECK_THAT(message(files), Contains("expected the name of a photograph, found none"));
  files.all[4].name = "other";
  CHECK_THAT(message(files), Contains("trainval.txt', found none"));
  files = photographs();
  files.all.erase(files.all.begin() + 1);
  CHECK_THAT(message(files), Contains("SegmentationClass/a.png', found none"));
  CHECK_THROWS_WITH(voc2012::read("/none.tar"), Contains("/none.tar: cannot be opened"));
}

TEST_CASE("damaged archives of VOC2012") {
  test::damage(test::tar_bytes(photographs()), 97, [](const std::string& path) {
    const auto all = voc2012::read(path);
    for (const auto& part : {all.train(), all.test(), all.val()})
      for (const auto& s : part) CHECK_FALSE(s.name.empty());
  });
}
