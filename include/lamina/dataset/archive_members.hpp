// SPDX-License-Identifier: Apache-2.0
// lamina/dataset/archive_members.hpp - reads the text files of a data set from an archive.
#pragma once

#include <lamina/core/config.hpp>

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <lamina/core/files/binary_file.hpp>
#include <lamina/core/messages/error.hpp>
#include <lamina/core/messages/text.hpp>
#include <lamina/dataset/text_member.hpp>
#include <lamina/io/archive/gzip.hpp>
#include <lamina/io/archive/tar_file.hpp>
#include <lamina/io/archive/zip_reader.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace dataset {

/// Files of an archive with their names, in the order of the archive.
struct archive_members {
  std::string path;
  std::vector<text_member> all{};

  /// Adds a file; used for synthetic data.
  LAMINA_COLD void add(std::string name, std::string bytes) {
    all.push_back({path, std::move(name), std::move(bytes)});
  }
  /// Returns the first file with this name; null if there is none.
  LAMINA_COLD const text_member* find(std::string_view name) const {
    for (const text_member& m : all)
      if (m.name == name) return &m;
    return nullptr;
  }
  /// Returns the first file with this name. Throws format_error if there is none, or if the file is
  /// empty.
  LAMINA_API LAMINA_COLD const text_member& at(std::string_view name) const;
};

/// Reads the files of a tar archive for which `wanted(name)` is true. Names do not begin with "./".
/// Links, devices and other special entries are skipped. Throws format_error for a damaged archive.
template <class Wanted>
archive_members read_tar_members(binary_reader& from, Wanted wanted) {
  archive_members found{from.path()};
  tar_reader archive(from, tar_others::skipped);
  for (tar_member m; archive.next(m);) {
    if (m.name.starts_with("./")) m.name.erase(0, 2);
    if (wanted(std::string_view(m.name)))
      found.all.push_back({found.path, m.name, from.bytes(m.size, "a member"), m.begin});
  }
  return found;
}
/// Does the same for the tar archive in the file `path`, which may be compressed with gzip. Offsets
/// in errors are offsets in the decompressed bytes.
template <class Wanted>
archive_members read_tar_members(const std::string& path, Wanted wanted) {
  binary_reader from(path, lamina::detail::unpack_gzip);
  return read_tar_members(from, wanted);
}

/// Decompresses a gzip file that is a member of an archive.
LAMINA_COLD inline text_member unpack_member(const text_member& packed) {
  return {packed.path, packed.name,
          lamina::detail::unpack_gzip(packed.bytes, packed.path + ": " + packed.name), packed.begin,
          false};
}

/// Reads the files of a zip archive for which `wanted(name)` is true. Throws format_error for a
/// damaged archive; if `checked` is false, checksums are not verified.
template <class Wanted>
archive_members read_zip_members(binary_reader& from, Wanted wanted, bool checked = true) {
  archive_members found{from.path()};
  zip_reader archive(from);
  for (const zip_member& m : archive.members()) {
    if (!wanted(std::string_view(m.name))) continue;
    if (m.deflated && m.refused.empty()) {
      found.all.push_back({found.path, m.name, archive.inflate(m, checked), m.begin, false});
      continue;
    }
    if (checked) archive.check_member(m);
    archive.open(m);
    found.all.push_back({found.path, m.name, from.bytes(m.stored_size, m.name), m.begin});
  }
  return found;
}
template <class Wanted>
archive_members read_zip_members(const std::string& path, Wanted wanted) {
  binary_reader from(path);
  return read_zip_members(from, wanted);
}

#if LAMINA_DEFINES

const text_member& archive_members::at(std::string_view name) const {
  const text_member* found = find(name);
  if (found == nullptr)
    throw format_error(path, 0, lamina::text("expected the member '") << name << "', found none");
  if (found->bytes.empty()) found->fail(0, "expected a text, found an empty member");
  return *found;
}

#endif  // LAMINA_DEFINES

}}}  // namespace lamina::dataset
