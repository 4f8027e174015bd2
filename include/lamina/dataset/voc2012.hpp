// SPDX-License-Identifier: Apache-2.0
// lamina/dataset/voc2012.hpp - photographs with a class per pixel, as JPEG and PNG files:
// VOCtrainval_11-May-2012.tar. Source: Everingham et al., "The PASCAL visual object classes
// challenge: a retrospective" (IJCV 2015).
#pragma once

#include <lamina/core/config.hpp>

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <lamina/core/messages/text.hpp>
#include <lamina/dataset/stored_members.hpp>
#include <lamina/dataset/table.hpp>
#include <lamina/dataset/text_member.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace dataset::voc2012 {

/// The file of a photograph, and the file with the classes of its pixels. image::decode_segmented
/// decodes both.
struct sample {
  std::string name;   ///< names of the archive and the photograph, for errors
  std::string bytes;  ///< the contents of the JPEG file
  /// The contents of the PNG file; its pixels are classes 0 to 20, or 255 (unclear).
  std::string mask;
};

/// The photographs of one part of the data set. A photograph is read from the archive when its
/// sample is requested. Copies share the archive.
class source {
 public:
  struct entry {
    std::size_t image, mask;
  };
  source(stored_members files, std::vector<entry> entries)
      : files_(std::move(files)),
        entries_(std::make_shared<const std::vector<entry>>(std::move(entries))) {}

  sample at(std::size_t row) const {
    const auto [image, mask] = (*entries_)[row];
    return {files_.full_name(image), files_.bytes(image), files_.bytes(mask)};
  }

 private:
  stored_members files_;
  std::shared_ptr<const std::vector<entry>> entries_;
};

/// The data set, read from its archive.
class data {
 public:
  LAMINA_COLD explicit data(const std::string& path) : files_(path, is_part) {}

  /// Returns the 2,913 photographs of trainval.txt. Fluid: dataset.voc2012.train.
  table<source> train() const { return part("trainval"); }
  /// Returns the 1,464 photographs of train.txt. As in PaddlePaddle, train() contains these
  /// photographs too, and also those of val(), so a model trained on train() cannot be tested with
  /// them. Fluid: dataset.voc2012.test.
  table<source> test() const { return part("train"); }
  /// Returns the 1,449 photographs of val.txt. Fluid: dataset.voc2012.val.
  table<source> val() const { return part("val"); }

 private:
  static constexpr std::string_view folder = "VOCdevkit/VOC2012/";

  LAMINA_API static bool is_part(std::string_view name);
  LAMINA_API LAMINA_COLD table<source> part(const char* name) const;

  stored_members files_;
};

/// Opens the archive, which may be compressed with gzip. Throws lamina::error for a file that does
/// not exist, and format_error for a damaged archive. train(), test() and val() of the result throw
/// format_error if a list or a photograph is missing in the archive.
LAMINA_COLD inline data read(const std::string& path) { return data(path); }

#if LAMINA_DEFINES

bool data::is_part(std::string_view name) {
  if (!name.starts_with(folder)) return false;
  name.remove_prefix(folder.size());
  return name.starts_with("ImageSets/Segmentation/") || name.starts_with("JPEGImages/") ||
         name.starts_with("SegmentationClass/");
}

table<source> data::part(const char* name) const {
  const std::string list = lamina::text(folder) << "ImageSets/Segmentation/" << name << ".txt";
  const std::size_t member = files_.index_of(list);
  const text_member names{files_.path(), list, files_.bytes(member), 0, false};
  std::vector<source::entry> entries;
  for_each_line(names, [&](const text_line& line) {
    const std::string_view photograph = trimmed(line.text);
    const std::string image = lamina::text(folder) << "JPEGImages/" << photograph << ".jpg";
    const std::string mask = lamina::text(folder) << "SegmentationClass/" << photograph << ".png";
    for (const std::string& file : {image, mask})
      if (!files_.contains(file))
        line.fail(lamina::text("expected the member '") << file << "', found none");
    entries.push_back({files_.index_of(image), files_.index_of(mask)});
  });
  if (entries.empty()) names.fail(0, "expected the name of a photograph, found none");
  const std::size_t rows = entries.size();
  return {source(files_, std::move(entries)), 0, rows};
}

#endif  // LAMINA_DEFINES

}}}  // namespace lamina::dataset::voc2012
