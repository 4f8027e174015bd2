// SPDX-License-Identifier: Apache-2.0
// lamina/dataset/flowers.hpp - photographs of flowers of 102 kinds, as JPEG files: 102flowers.tgz.
// Source: Nilsback and Zisserman, "Automated flower classification over a large number of classes"
// (ICVGIP 2008).
#pragma once

#include <lamina/core/config.hpp>

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <lamina/core/messages/error.hpp>
#include <lamina/core/messages/text.hpp>
#include <lamina/dataset/mat_file.hpp>
#include <lamina/dataset/stored_members.hpp>
#include <lamina/dataset/table.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace dataset::flowers {

/// The file of a photograph, which image::simple_transform decodes, and the kind of the flower.
struct sample {
  std::string name;    ///< names of the file and of the archive, for errors
  std::string bytes;   ///< the contents of the JPEG file
  std::int64_t label;  ///< 0 to 101, one less than in imagelabels.mat
};

/// The photographs of one part of the data set. A photograph is read from the archive when its
/// sample is requested. Copies share the archive.
class source {
 public:
  struct entry {
    std::size_t member;
    std::int64_t label;
  };
  source(stored_members files, std::vector<entry> entries)
      : files_(std::move(files)),
        entries_(std::make_shared<const std::vector<entry>>(std::move(entries))) {}

  sample at(std::size_t row) const {
    const auto [member, label] = (*entries_)[row];
    return {files_.full_name(member), files_.bytes(member), label};
  }

 private:
  stored_members files_;
  std::shared_ptr<const std::vector<entry>> entries_;
};

/// The data set, read from its three files.
class data {
 public:
  /// Opens 102flowers.tgz, imagelabels.mat and setid.mat. Throws format_error for a file that is
  /// damaged or lacks one of the matrices 'labels', 'trnid', 'valid' and 'tstid'.
  LAMINA_COLD data(const std::string& archive, const std::string& labels, const std::string& sets)
      : files_(archive, [](std::string_view name) { return name.starts_with("jpg/"); }),
        labels_path_(labels),
        sets_path_(sets),
        labels_(first_row(mat_file(labels), "labels")),
        sets_(sets) {}

  /// Returns the 6,149 photographs of 'tstid'. Although their name in setid.mat suggests tests,
  /// they are for training, because they are the largest part, as in PaddlePaddle. Fluid:
  /// dataset.flowers.train.
  table<source> train() const { return part("tstid"); }
  /// Returns the 1,020 photographs of 'trnid'. Fluid: dataset.flowers.test.
  table<source> test() const { return part("trnid"); }
  /// Returns the 1,020 photographs of 'valid'. Fluid: dataset.flowers.valid.
  table<source> valid() const { return part("valid"); }

 private:
  /// Returns the first row of the matrix with this name.
  LAMINA_API LAMINA_COLD static std::vector<double> first_row(const mat_file& of,
                                                              std::string_view name);
  /// Converts a value of a matrix to an integer. Throws format_error unless it is a whole number
  /// from `least` to `most`.
  LAMINA_API LAMINA_COLD static std::int64_t whole(const std::string& path, const char* what,
                                                   double value, std::int64_t least,
                                                   std::int64_t most);
  /// Returns the photographs that a matrix of setid.mat names, in the order of the archive.
  LAMINA_API LAMINA_COLD table<source> part(const char* name) const;

  stored_members files_;
  std::string labels_path_, sets_path_;
  std::vector<double> labels_;
  mat_file sets_;
};

/// Opens the three files in a folder. Throws lamina::error for a file that does not exist, and the
/// errors of the constructor of data.
LAMINA_COLD inline data read(const std::string& folder) {
  const std::filesystem::path in(folder);
  return {(in / "102flowers.tgz").string(), (in / "imagelabels.mat").string(),
          (in / "setid.mat").string()};
}

#if LAMINA_DEFINES

std::vector<double> data::first_row(const mat_file& of, std::string_view name) {
  const mat_matrix& m = of.at(name);
  std::vector<double> row;
  const auto step = static_cast<std::size_t>(m.shape[0]);
  for (std::size_t i = 0; step > 0 && i < m.values.size(); i += step) row.push_back(m.values[i]);
  return row;
}

std::int64_t data::whole(const std::string& path, const char* what, double value,
                         std::int64_t least, std::int64_t most) {
  if (!(value >= static_cast<double>(least) && value <= static_cast<double>(most)) ||
      value != static_cast<double>(static_cast<std::int64_t>(value)))
    throw format_error(path, 0,
                       (lamina::text("flowers: expected ")
                        << what << " from " << least << " to " << most << ", found ")
                           .print("%g", value));
  return static_cast<std::int64_t>(value);
}

table<source> data::part(const char* name) const {
  std::vector<std::int64_t> kinds(files_.size(), -1);
  for (const double number : first_row(sets_, name)) {
    const std::int64_t image = whole(sets_path_, "the number of an image", number, 1,
                                     static_cast<std::int64_t>(labels_.size()));
    char file[32];
    std::snprintf(file, sizeof file, "jpg/image_%05lld.jpg", static_cast<long long>(image));
    kinds[files_.index_of(file)] =
        whole(labels_path_, "a label", labels_[static_cast<std::size_t>(image - 1)], 1, 102) - 1;
  }
  std::vector<source::entry> entries;
  for (std::size_t i = 0; i < kinds.size(); ++i)
    if (kinds[i] >= 0) entries.push_back({i, kinds[i]});
  const std::size_t rows = entries.size();
  return {source(files_, std::move(entries)), 0, rows};
}

#endif  // LAMINA_DEFINES

}}}  // namespace lamina::dataset::flowers
