// SPDX-License-Identifier: Apache-2.0
// lamina/image/folder.hpp - reads PNG and JPEG files from folders, one folder per class. Programs
// must link libpng and libjpeg.
#pragma once

#include <lamina/core/config.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include <lamina/core/files/file.hpp>
#include <lamina/core/messages/error.hpp>
#include <lamina/core/messages/text.hpp>
#include <lamina/dataset/byte_source.hpp>
#include <lamina/dataset/table.hpp>
#include <lamina/image/decoded.hpp>
#include <lamina/image/jpeg.hpp>
#include <lamina/image/picture.hpp>
#include <lamina/image/png.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace image {

/// Options of read_picture and load.
struct read_options {
  float background = 1;  ///< the colour behind transparent pixels: 0 is black, 1 is white
  image::fit fit = image::fit::cover;  ///< how load() changes an image of another size
};

/// Reads a PNG or JPEG file; its first bytes determine the format. `channels` is 1 (lightness), 3,
/// or 0 for as many as the file has. Throws lamina::error with the name of the file for a missing
/// file, another format and a damaged file.
inline picture read_picture(const file_path& path, int channels = 0, read_options options = {}) {
  if (channels != 0 && channels != 1 && channels != 3)
    throw error(text("lamina: image::read_picture: expected 0, 1 or 3 channels, found ")
                << channels);
  const std::string bytes = dataset::read_bytes(path.string());
  if (bytes.starts_with("\x89PNG\r\n\x1a\n"))
    return to_picture(decode_png(bytes, path.string()), channels, options.background);
  if (bytes.starts_with("\xff\xd8\xff"))
    return to_picture(decode_jpeg(bytes, path.string()), channels, options.background);
  throw format_error(path.string(), 0,
                     bytes.empty() ? "expected a PNG or JPEG file, found an empty file"
                                   : "expected a PNG or JPEG file, found another format");
}

/// A file and the number of its class.
struct labelled_file {
  std::string path;
  std::int64_t label;
};
/// An image and the number of its class.
struct labelled_image {
  std::vector<float> image;
  std::int64_t label;
};

/// The source of a dataset::table whose samples are files.
class files_source {
 public:
  explicit files_source(std::vector<labelled_file> files)
      : files_(std::make_shared<const std::vector<labelled_file>>(std::move(files))) {}
  labelled_file at(std::size_t row) const { return (*files_)[row]; }

 private:
  std::shared_ptr<const std::vector<labelled_file>> files_;
};

/// A table of the files of a folder. Its samples are of type labelled_file, which load() converts
/// to images.
class folder_table : public dataset::table<files_source> {
 public:
  folder_table(std::vector<labelled_file> files, std::vector<std::string> classes)
      : folder_table(files.size(), std::move(files), std::move(classes)) {}

  /// Returns the names of the classes, which are the names of the subfolders.
  const std::vector<std::string>& classes() const { return classes_; }

 private:
  // The files are passed by reference and moved later. The caller also passes their number, and the
  // order in which the caller evaluates its arguments is unspecified.
  folder_table(std::size_t size, std::vector<labelled_file>&& files,
               std::vector<std::string> classes)
      : table(files_source(std::move(files)), 0, size), classes_(std::move(classes)) {}

  std::vector<std::string> classes_;
};

namespace detail {

/// Returns the extension of a file in lower case, such as ".jpg".
inline std::string extension_of(const std::filesystem::path& path) {
  std::string end = path.extension().string();
  for (char& c : end)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return end;
}
/// Whether a file is an image that load() can read. Throws format_error for an image in another
/// format.
LAMINA_COLD inline bool is_picture(const std::filesystem::path& path) {
  const std::string end = extension_of(path);
  for (const char* unread :
       {".bmp", ".gif", ".tif", ".tiff", ".webp", ".ppm", ".pgm", ".jp2", ".heic", ".avif", ".jxl"})
    if (end == unread)
      throw format_error(path.string(), 0, "expected a PNG or JPEG file, found " + end);
  return end == ".png" || end == ".jpg" || end == ".jpeg";
}
/// Returns the entries of a folder, except hidden entries, sorted by the bytes of their names.
LAMINA_COLD inline std::vector<std::filesystem::path> entries_of(
    const std::filesystem::path& folder) {
  std::error_code failed;
  std::vector<std::filesystem::path> all;
  for (std::filesystem::directory_iterator at(folder, failed), end; !failed && at != end;
       at.increment(failed))
    if (!at->path().filename().string().starts_with('.')) all.push_back(at->path());
  if (failed)
    throw error(text("lamina: ") << folder.string() << ": cannot be read: " << failed.message());
  std::sort(all.begin(), all.end(), [](const auto& a, const auto& b) {
    return a.filename().string() < b.filename().string();
  });
  return all;
}
LAMINA_COLD inline void add_files(const std::filesystem::path& folder, std::int64_t label,
                                  std::vector<labelled_file>& files) {
  for (const auto& entry : entries_of(folder))
    if (std::filesystem::is_directory(entry))
      add_files(entry, label, files);
    else if (is_picture(entry))
      files.push_back({entry.string(), label});
}

}  // namespace detail

/// Lists the PNG and JPEG files of a folder in which each subfolder is a class. Classes are
/// numbered in the order of the bytes of their names ("10" comes before "2"). Files are listed
/// class by class, sorted in the same way; files in folders within a subfolder are included. Hidden
/// files and files that are not images are skipped. If `classes` is given, it sets the names and
/// the numbers of the classes; for test data, pass the classes of the training data, so that both
/// have the same numbers. Throws lamina::error for a folder that cannot be read or has no
/// subfolder, a class without an image, a subfolder that is not among `classes`, an image directly
/// in the folder, and an image of another format, such as GIF.
LAMINA_COLD inline folder_table folder(const file_path& path,
                                       std::vector<std::string> classes = {}) {
  const bool given = !classes.empty();
  std::vector<labelled_file> files;
  std::size_t found = 0;
  const auto fail = [&](const std::filesystem::path& at, const char* expected,
                        const char* instead) {
    throw error(text("lamina: ") << at.string() << ": expected " << expected << ", found "
                                 << instead);
  };
  for (const auto& entry : detail::entries_of(path.string())) {
    if (!std::filesystem::is_directory(entry)) {
      if (detail::is_picture(entry)) fail(entry, "images in a folder for each class", "one beside");
      continue;
    }
    ++found;
    const std::string name = entry.filename().string();
    if (!given) classes.push_back(name);
    const auto at = std::find(classes.begin(), classes.end(), name);
    if (at == classes.end()) fail(entry, "a folder with the name of a class", "another one");
    const std::size_t before = files.size();
    detail::add_files(entry, at - classes.begin(), files);
    if (files.size() == before) fail(entry, "a PNG or JPEG file", "none");
  }
  if (found == 0) fail(path.string(), "a folder for each class", "none");
  return {std::move(files), std::move(classes)};
}

/// The type of the function object that load() makes.
template <int C, int H, int W>
struct loader {
  read_options options{};
  labelled_image operator()(const labelled_file& file) const {
    picture read = read_picture(file.path, C, options);
    if (read.height != H || read.width != W) read = resized(read, H, W, options.fit);
    return {std::move(read.pixels), file.label};
  }
};

/// Makes a function for reader::xmap that reads a file of folder() as an image of C channels (1 or
/// 3) of H * W pixels from 0 to 1:
///   image::folder("flowers/train") | reader::shuffle(10000) |
///       reader::xmap(image::load<3, 64, 64>(), {.threads = 4}) | reader::batch(32)
template <int C, int H, int W>
requires((C == 1 || C == 3) && H > 0 && W > 0) loader<C, H, W> load(read_options options = {}) {
  return {options};
}

}}}  // namespace lamina::image
