// SPDX-License-Identifier: Apache-2.0
// lamina/model/feeding/sample_files.hpp - writes samples to several files, and assigns the files to
// trainers.
#pragma once

#include <lamina/core/config.hpp>

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include <lamina/core/files/binary_file.hpp>
#include <lamina/core/files/file.hpp>
#include <lamina/core/messages/error.hpp>
#include <lamina/core/messages/text.hpp>
#include <lamina/core/system/system.hpp>
#include <lamina/io/archive/recordio.hpp>
#include <lamina/model/feeding/sample_record.hpp>
#include <lamina/reader/begin_pass.hpp>
#include <lamina/reader/generator.hpp>

namespace lamina { inline namespace LAMINA_ABI {

/// Writes samples to a RecordIO file, one record per sample
/// (lamina/model/feeding/sample_record.hpp). If writing fails, there is no new file. Throws
/// lamina::error with the path then.
template <class S>
void write_samples(const std::vector<S>& samples, const std::string& path) {
  binary_writer file(path);
  recordio_writer records(file);
  for (const auto& sample : samples) records.write(to_record<S>(sample));
  records.finish();
  file.finish();
}

/// Returns the samples of a RecordIO file. Throws lamina::error if the file cannot be opened, and
/// format_error if it is damaged or its samples have other fields than S.
template <class S>
std::vector<S> read_samples(const std::string& path) {
  binary_reader file(path);
  recordio_reader records(file);
  std::vector<S> all;
  for (std::string_view record; records.next(record);) try {
      all.push_back(detail::sample_of<S>(record));
    } catch (const detail::no_sample& failure) {
      records.fail(failure.reason);
    }
  return all;
}

namespace detail {

/// A pattern of file names with a number, such as "train-%05d.recordio".
class numbered_path {
 public:
  LAMINA_API LAMINA_COLD explicit numbered_path(const std::string& pattern);
  LAMINA_API LAMINA_COLD std::string of(std::size_t number) const;

 private:
  std::string before_, behind_;
  std::size_t width_ = 0;
  char fill_ = ' ';
};

LAMINA_API_COLD void require_no_file(const std::string& path);

/// Returns the files that match a shell pattern, sorted by name.
LAMINA_API_COLD std::vector<std::string> files_of(const std::string& pattern);

#if LAMINA_DEFINES

numbered_path::numbered_path(const std::string& pattern) {
  const std::size_t begin = pattern.find('%');
  std::size_t end = begin == pattern.npos ? begin : begin + 1;
  while (end < pattern.size() && pattern[end] >= '0' && pattern[end] <= '9')
    width_ = 10 * width_ + static_cast<std::size_t>(pattern[end++] - '0');
  if (end >= pattern.size() || pattern[end] != 'd' || pattern.find('%', end) != pattern.npos ||
      width_ > 20)
    throw error(text("lamina: split_files: expected one number such as %05d in the name of the "
                     "files, found '")
                << pattern << "'");
  fill_ = pattern[begin + 1] == '0' ? '0' : ' ';
  before_ = pattern.substr(0, begin);
  behind_ = pattern.substr(end + 1);
}

std::string numbered_path::of(std::size_t number) const {
  const std::string digits = std::to_string(number);
  const std::size_t filled = digits.size() < width_ ? width_ - digits.size() : 0;
  return before_ + std::string(filled, fill_) + digits + behind_;
}

void require_no_file(const std::string& path) {
  if (system::status_of(path).kind != system::file_kind::missing)
    throw error(text("lamina: split_files: expected no file beyond the last one written, found '")
                << path << "', of an earlier and longer reader: remove it");
}

std::vector<std::string> files_of(const std::string& pattern) {
  std::vector<std::string> paths;
  if (pattern.find('\0') == pattern.npos && !system::matching_paths(pattern, paths))
    throw error(text("lamina: cluster_files_reader: ") << pattern << ": cannot be read");
  std::sort(paths.begin(), paths.end());  // by bytes: one order in every locale
  return paths;
}

#endif  // LAMINA_DEFINES

}  // namespace detail

/// Writes the elements of a reader's first pass to files of `line_count` elements each; the last
/// file may have fewer. `suffix` is the path of the files, with one %d for the number of the file,
/// which begins with 0, such as "train-%05d.recordio". `dumper(elements, path)` writes a file.
/// Returns the number of files. Throws lamina::error for a line_count below 1, a suffix without a
/// number, a file that cannot be written, and a reader without elements. It also throws if a file
/// with the next number exists, because readers of the pattern would read that file too. Fluid:
/// dataset.common.split, whose first file has one element more.
template <reader::readable R, class Dumper>
std::size_t split_files(R&& samples, std::int64_t line_count, const std::string& suffix,
                        Dumper dumper) {
  if (line_count < 1)
    throw error(text("lamina: split_files: expected at least 1 sample in a file, found ")
                << line_count);
  const detail::numbered_path names(suffix);
  using element = reader::reader_element_t<R>;
  std::vector<element> held;
  std::size_t files = 0;
  const auto write = [&] {
    dumper(std::as_const(held), names.of(files));
    ++files;
    held.clear();
  };
  for (auto&& sample : reader::begin_pass(std::forward<R>(samples))) {
    held.push_back(sample);
    if (held.size() == static_cast<std::size_t>(line_count)) write();
  }
  if (!held.empty()) write();
  if (files == 0) throw error("lamina: split_files: expected a reader with samples, found none");
  detail::require_no_file(names.of(files));
  return files;
}
/// Does the same with RecordIO files, written by write_samples.
template <reader::readable R>
std::size_t split_files(R&& samples, std::int64_t line_count,
                        const std::string& suffix = "%05d.recordio") {
  return split_files(std::forward<R>(samples), line_count, suffix,
                     &write_samples<reader::reader_element_t<R>>);
}

/// Writes the elements of a reader with split_files() to the RecordIO files "FOLDER/PREFIX-00000",
/// "FOLDER/PREFIX-00001" and so on. Fluid: dataset.common.convert.
template <reader::readable R>
std::size_t convert(const std::string& output_path, R&& samples, std::int64_t line_count,
                    const std::string& name_prefix) {
  if (output_path.find('%') != output_path.npos || name_prefix.find('%') != name_prefix.npos)
    throw error(text("lamina: convert: expected names without %, found '")
                << output_path << "' and '" << name_prefix << "'");
  return split_files(std::forward<R>(samples), line_count,
                     output_path + "/" + name_prefix + "-%05d");
}

/// The reader that cluster_files_reader() makes.
template <class Loader>
class trainer_files {
 public:
  using value_type =
      typename std::remove_cvref_t<std::invoke_result_t<Loader&, const std::string&>>::value_type;

  LAMINA_COLD trainer_files(std::string pattern, std::int64_t count, std::int64_t id, Loader loader)
      : pattern_(std::move(pattern)),
        count_(static_cast<std::size_t>(count)),
        id_(static_cast<std::size_t>(id)),
        loader_(std::move(loader)) {
    if (count < 1 || id < 0 || id >= count)
      throw error(text("lamina: cluster_files_reader: expected a trainer from 0 to one below the "
                       "number of trainers, found ")
                  << id << " of " << count);
  }

  /// Returns the paths of this trainer's files, sorted by name. Throws lamina::error if there are
  /// fewer files than trainers.
  LAMINA_COLD std::vector<std::string> files() const {
    const std::vector<std::string> all = detail::files_of(pattern_);
    if (all.size() < count_)
      throw error(text("lamina: cluster_files_reader: expected at least ")
                  << count_ << " files '" << pattern_ << "', one for each trainer, found "
                  << all.size());
    std::vector<std::string> own;
    for (std::size_t i = id_; i < all.size(); i += count_) own.push_back(all[i]);
    return own;
  }
  generator<value_type> operator()() const { return run(files(), loader_); }

 private:
  static generator<value_type> run(std::vector<std::string> files, Loader loader) {
    for (const std::string& path : files) {
      auto held = loader(path);
      for (auto&& sample : held) co_yield hand_over(std::move(sample));
    }
  }

  std::string pattern_;
  std::size_t count_, id_;
  Loader loader_;
};

/// Makes a reader for one of `trainer_count` trainers. The files that match a shell pattern, such
/// as "train-*.recordio", are listed when a pass begins and sorted by name; the trainer reads every
/// trainer_count-th file, beginning with number `trainer_id`. `loader(path)` returns the elements
/// of a file as a vector. Throws lamina::error if trainer_id is not below trainer_count, and if
/// there are fewer files than trainers; exceptions of the loader are passed on. Fluid:
/// dataset.common.cluster_files_reader.
template <class Loader>
requires std::invocable<Loader&, const std::string&> trainer_files<Loader> cluster_files_reader(
    std::string files_pattern, std::int64_t trainer_count, std::int64_t trainer_id, Loader loader) {
  return {std::move(files_pattern), trainer_count, trainer_id, std::move(loader)};
}
/// Does the same with files of split_files() that contain samples of type S.
template <class S>
auto cluster_files_reader(std::string files_pattern, std::int64_t trainer_count,
                          std::int64_t trainer_id) {
  return cluster_files_reader(std::move(files_pattern), trainer_count, trainer_id,
                              &read_samples<S>);
}

}}  // namespace lamina
