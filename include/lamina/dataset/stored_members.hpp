// SPDX-License-Identifier: Apache-2.0
// lamina/dataset/stored_members.hpp - the files of a large archive, each of which is read when it
// is requested.
#pragma once

#include <lamina/core/config.hpp>

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include <lamina/core/files/binary_file.hpp>
#include <lamina/core/files/file.hpp>
#include <lamina/core/messages/error.hpp>
#include <lamina/core/messages/text.hpp>
#include <lamina/core/system/system.hpp>
#include <lamina/io/archive/gzip.hpp>
#include <lamina/io/archive/tar_file.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace dataset {

/// The names and offsets of the members of a tar archive, in order. The bytes of the members stay
/// in the file, and several threads may read them at the same time. An archive that is compressed
/// with gzip is decompressed to memory. Copies of the object share the archive.
class stored_members {
 public:
  /// Opens an archive and finds the members for which `wanted(name)` is true. A beginning "./" is
  /// removed from names. Throws lamina::error if the archive cannot be opened, and format_error if
  /// it is damaged.
  template <class Wanted>
  stored_members(const std::string& path, Wanted wanted) : all_(std::make_shared<content>(path)) {
    if (all_->is_packed) {
      binary_reader from(std::string_view(all_->unpacked), path);
      find(from, wanted);
    } else {
      binary_reader from(path);
      find(from, wanted);
    }
  }

  const std::string& path() const { return all_->path; }
  std::size_t size() const { return all_->members.size(); }
  const std::string& name(std::size_t index) const { return all_->members[index].name; }
  /// Returns the names of the archive and the member, for errors.
  std::string full_name(std::size_t index) const { return path() + ": " + name(index); }

  /// Returns the number of the member with this name. If there are several, returns the last one,
  /// as Python's tarfile does. Throws format_error if there is none.
  LAMINA_API LAMINA_COLD std::size_t index_of(std::string_view wanted) const;
  bool contains(std::string_view wanted) const {
    return all_->numbers.find(std::string(wanted)) != all_->numbers.end();
  }

  /// Returns the bytes of a member. Throws lamina::error if the file cannot be read, and
  /// format_error if it has become shorter.
  LAMINA_API LAMINA_COLD std::string bytes(std::size_t index) const;

 private:
  struct content {
    LAMINA_API explicit content(const std::string& from);
    std::string path;
    open_file file;
    bool is_packed = false;
    std::string unpacked{};
    std::vector<tar_member> members{};
    std::unordered_map<std::string, std::size_t> numbers{};
  };

  template <class Wanted>
  void find(binary_reader& from, Wanted& wanted) {
    tar_reader archive(from, tar_others::skipped);
    for (tar_member m; archive.next(m);) {
      if (m.name.starts_with("./")) m.name.erase(0, 2);
      if (!wanted(std::string_view(m.name))) continue;
      all_->numbers.insert_or_assign(m.name, all_->members.size());
      all_->members.push_back(m);
    }
  }

  std::shared_ptr<content> all_;
};

#if LAMINA_DEFINES

std::size_t stored_members::index_of(std::string_view wanted) const {
  const auto found = all_->numbers.find(std::string(wanted));
  if (found == all_->numbers.end())
    throw format_error(path(), 0,
                       lamina::text("expected the member '") << wanted << "', found none");
  return found->second;
}

std::string stored_members::bytes(std::size_t index) const {
  const tar_member& m = all_->members[index];
  if (all_->is_packed) return all_->unpacked.substr(m.begin, m.size);
  std::string read(m.size, '\0');
  for (std::size_t had = 0; had < read.size();) {
    constexpr std::size_t most = std::size_t{1} << 30;  // bytes per call
    const std::size_t more = read.size() - had < most ? read.size() - had : most;
    const long long got =
        lamina::detail::system::read_some_at(all_->file.number(), &read[had], more, m.begin + had);
    if (got < 0)
      throw error(lamina::text("lamina: ") << path() << ": cannot be read: " << reason_of(errno));
    if (got == 0)
      throw format_error(path(), m.begin + had,
                         lamina::text("expected ")
                             << m.size << " bytes of '" << m.name
                             << "', found the end: the file has become shorter");
    had += static_cast<std::size_t>(got);
  }
  return read;
}

stored_members::content::content(const std::string& from) : path(from), file(from) {
  if (!file.is_open())
    throw error(lamina::text("lamina: ") << path << ": cannot be opened: " << reason_of(errno));
  char first[3] = {};
  is_packed = lamina::detail::system::read_some_at(file.number(), first, 3, 0) == 3 &&
              std::string_view(first, 3) == "\x1f\x8b\x08";
  if (is_packed) unpacked = lamina::detail::unpack_gzip(read_file(path), path);
}

#endif  // LAMINA_DEFINES

}}}  // namespace lamina::dataset
