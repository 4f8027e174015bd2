// SPDX-License-Identifier: Apache-2.0
// lamina/core/files/file.hpp - reads and writes whole files, and handles directories. It replaces
// <filesystem>, with which the include of lamina.hpp would take 1.2 times as long
// (docs/compile_time.md, "Headers of others"), and <fstream>, which does not report why an
// operation failed.
#pragma once

#include <lamina/core/config.hpp>

#include <cerrno>
#include <concepts>
#include <cstddef>
#include <cstdio>
#include <string>
#include <string_view>
#include <utility>

#include <lamina/core/files/left_files.hpp>
#include <lamina/core/files/open_file.hpp>
#include <lamina/core/files/paths.hpp>
#include <lamina/core/messages/error.hpp>
#include <lamina/core/messages/text.hpp>
#include <lamina/core/system/system.hpp>

namespace lamina { inline namespace LAMINA_ABI {

/// The path of a file: text in UTF-8, or a type that converts to text, as std::filesystem::path
/// does.
class file_path {
 public:
  file_path(std::string path) : path_(std::move(path)) {}  // NOLINT: a path converts
  file_path(std::string_view path) : path_(path) {}        // NOLINT
  file_path(const char* path) : path_(path) {}             // NOLINT
  template <class Path>
  requires requires(const Path& path) {
    { path.string() } -> std::convertible_to<std::string>;
  }
  file_path(const Path& path) : path_(text_of(path)) {}  // NOLINT

  const std::string& string() const noexcept { return path_; }

 private:
  /// On Windows, string() of std::filesystem::path loses the letters that the code page lacks.
  template <class Path>
  static std::string text_of(const Path& path) {
    if constexpr (requires { path.u8string().data(); }) {
      const auto utf8 = path.u8string();
      return std::string(reinterpret_cast<const char*>(utf8.data()), utf8.size());
    } else {
      return path.string();
    }
  }

  std::string path_;
};

/// Returns all bytes of a file. Throws lamina::error with the path if the file is missing or cannot
/// be read.
LAMINA_API_COLD std::string read_file(const std::string& path);

/// Replaces the file at a path, the target, as a whole. The bytes are written to a new file in the
/// target's folder; when all of them are on the disk, the new file is renamed to the target. So
/// several writers do not mix their bytes, and after a power failure the target has either the old
/// bytes or the new bytes. If the path is a symbolic link, the target is the file to which it
/// leads. The new file gets the mode and, if the system allows it, the owner of the old file. A
/// device or a pipe receives the bytes directly and is not replaced.
class written_file {
 public:
  LAMINA_API LAMINA_COLD explicit written_file(const std::string& path);
  written_file(const written_file&) = delete;
  written_file& operator=(const written_file&) = delete;
  LAMINA_API LAMINA_COLD ~written_file();

  /// Opens the new file. Returns false, with errno set, if this fails, or if the target exists
  /// without write permission: a rename would replace such a target too.
  LAMINA_API LAMINA_COLD bool open();
  /// Appends n bytes to the new file. Returns false, with errno set, if not all bytes could be
  /// written.
  bool write(const void* from, std::size_t n) const { return file_.write(from, n); }
  /// Renames the new file to its target; call it after the last write. Returns false, with errno
  /// set, if the system cannot write or rename the file.
  LAMINA_API LAMINA_COLD bool keep();
  /// Removes the new file if keep() has not renamed it.
  LAMINA_API LAMINA_COLD void drop();

 private:
  LAMINA_API LAMINA_COLD bool follow_link();
  /// Returns a name for the new file that no other writer uses, within the length limit of file
  /// systems.
  LAMINA_API LAMINA_COLD std::string name_beside() const;
  /// When a process first writes to a folder, removes the temporary files that killed writers have
  /// left there.
  LAMINA_API LAMINA_COLD void remove_left() const;

  std::string target_, beside_;
  open_file file_;
};

/// Writes a file through a temporary file, so that readers see either the old bytes or the new
/// bytes. Throws lamina::error with the path if the file cannot be written; the old file is then
/// unchanged.
LAMINA_API_COLD void write_file(const std::string& path, const std::string& bytes);

/// Removes a file; throws lamina::error with its name if that fails.
LAMINA_API_COLD void remove_file(const std::string& path);

/// Makes a directory and its missing parents. Throws lamina::error with its name if that fails.
LAMINA_API_COLD void make_directories(const std::string& path);

#if LAMINA_DEFINES

std::string read_file(const std::string& path) {
  const open_file in(path);
  if (!in.is_open())
    LAMINA_THROW error(text() << "lamina: " << path << ": cannot be opened: " << reason_of(errno));
  std::string bytes;
  if (!in.read_all(bytes))  // the path is a directory, or the disk is faulty
    LAMINA_THROW error(text() << "lamina: " << path << ": cannot be read: " << reason_of(errno));
  return bytes;
}

written_file::written_file(const std::string& path) : target_(path) {
  for (int links = 0; links < 40 && follow_link(); ++links) {
  }
}

written_file::~written_file() { drop(); }

bool written_file::open() {
  using detail::system::file_kind;
  errno = EINVAL;
  if (target_.find('\0') != target_.npos) return false;
  const detail::system::file_status found = detail::system::status_of(target_);
  const bool is_there = found.kind != file_kind::missing;
  if (!is_there && errno == ELOOP) return false;
  if (found.kind == file_kind::folder) {
    errno = EISDIR;
    return false;
  }
  if (found.kind == file_kind::other) {
    file_ = open_file(target_, file_use::overwrite);
    return file_.is_open();
  }
  if (is_there && !detail::system::may_write(target_)) return false;
  const unsigned mode = is_there ? found.mode : 0666;
  for (int attempt = 0; attempt < 10000 && !file_.is_open(); ++attempt) {
    beside_ = name_beside();
    file_ = open_file(beside_, file_use::create, mode & 0777);
    if (!file_.is_open() && errno != EEXIST) break;
  }
  if (!file_.is_open()) {
    beside_.clear();
    return false;
  }
  bool can = false;
  detail::system::lock_file(file_.number(), can);
  if (is_there) detail::system::take_over(file_.number(), found);
  remove_left();
  return true;
}

bool written_file::keep() {
  if (beside_.empty()) return file_.close();
  if (!file_.sync() || !file_.close()) return false;
  if (!detail::system::rename_file(beside_, target_)) return false;
  beside_.clear();
  return true;
}

void written_file::drop() {
  const int failure = errno;
  file_.close();
  if (!beside_.empty()) detail::system::remove_path(beside_);
  beside_.clear();
  errno = failure;
}

bool written_file::follow_link() {
  using detail::system::file_kind, detail::system::status_of;
  if (target_.find('\0') != target_.npos) return false;
  std::string next = detail::system::link_text(target_);
  if (next.empty()) return false;
  if (!detail::system::is_absolute(next)) next = detail::folder_of(target_) + next;
  // The text of a link in /proc to a pipe or to a deleted file is not a path, so the link itself is
  // opened.
  const file_kind kind = status_of(target_).kind;
  if (kind != file_kind::missing &&
      (kind != file_kind::regular || status_of(next).kind == file_kind::missing))
    return false;
  target_ = std::move(next);
  return true;
}

std::string written_file::name_beside() const {
  static unsigned long long count = 0;
  const unsigned long long number =
      detail::first_number_of_writer() + __atomic_add_fetch(&count, 1, __ATOMIC_RELAXED);
  const std::string own = text() << "." << detail::system::process_id() << "-" << number
                                 << ".writing";
  const std::string folder = detail::folder_of(target_);
  std::string name = target_.substr(folder.size());
  const std::size_t before = folder.size() + own.size();
  std::size_t capacity = before > 3840 ? (before < 4095 ? 4095 - before : 0) : 255 - own.size();
  if (name.size() > capacity) {
    while (capacity > 0 && (static_cast<unsigned char>(name[capacity]) & 0xc0) == 0x80)
      --capacity;  // do not cut a UTF-8 character
    name.resize(capacity);
  }
  return folder + name + own;
}

void written_file::remove_left() const {
  static std::size_t last = 0;
  const std::string folder = detail::folder_of(target_);
  const std::size_t hash = std::hash<std::string_view>{}(folder);
  if (__atomic_exchange_n(&last, hash, __ATOMIC_RELAXED) == hash) return;
  const detail::system::file_status own = detail::system::status_of(file_.number());
  if (own.kind != detail::system::file_kind::missing)
    detail::remove_left_files(folder, own.modified);
}

void write_file(const std::string& path, const std::string& bytes) {
  written_file written(path);
  if (!written.open() || !written.write(bytes.data(), bytes.size()) || !written.keep())
    LAMINA_THROW error(text() << "lamina: " << path << ": cannot be written: " << reason_of(errno));
}

void remove_file(const std::string& path) {
  if (!detail::system::remove_path(path))
    LAMINA_THROW error(text() << "lamina: " << path << ": cannot be removed: " << reason_of(errno));
}

void make_directories(const std::string& path) {
  using detail::system::file_kind;
  int failure = 0;
  for (std::size_t end = 1; end <= path.size(); ++end) {
    if (end < path.size() && !detail::system::is_separator(path[end])) continue;
    if (!detail::system::make_folder(path.substr(0, end))) failure = errno;
  }
  const file_kind kind = detail::system::status_of(path).kind;
  if (kind == file_kind::folder) return;
  if (kind != file_kind::missing) failure = ENOTDIR;
  LAMINA_THROW error(text() << "lamina: " << path
                            << ": cannot be made a directory: " << reason_of(failure));
}

#endif  // LAMINA_DEFINES

}}  // namespace lamina
