// SPDX-License-Identifier: Apache-2.0
// lamina/core/file.hpp - whole files and directories, on POSIX: <filesystem> and <fstream> cost
// every program a fifth of a second and more.
#pragma once

#include <cerrno>
#include <concepts>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

#include <dirent.h>
#include <sys/stat.h>

#include <lamina/core/config.hpp>
#include <lamina/core/error.hpp>
#include <lamina/core/text.hpp>

namespace lamina {

/// Where a file lies: text, or what knows how to become text, as std::filesystem::path does.
class file_path {
 public:
  file_path(std::string path) : path_(std::move(path)) {}  // NOLINT: a path converts
  file_path(std::string_view path) : path_(path) {}        // NOLINT
  file_path(const char* path) : path_(path) {}             // NOLINT
  template <class Path>
  requires requires(const Path& path) {
    { path.string() } -> std::convertible_to<std::string>;
  }
  file_path(const Path& path) : path_(path.string()) {}  // NOLINT

  const std::string& string() const noexcept { return path_; }

 private:
  std::string path_;
};

/// The text of a number that a system call left in errno.
LAMINA_COLD inline std::string reason_of(int failure) {
  return std::generic_category().message(failure);
}

/// All bytes of a file. Throws lamina::error naming the path when there is none, or it cannot be
/// read.
LAMINA_COLD inline std::string read_file(const std::string& path) {
  std::FILE* in = std::fopen(path.c_str(), "rb");
  if (in == nullptr)
    throw error(text() << "lamina: " << path << ": cannot be opened: " << reason_of(errno));
  std::string bytes;
  std::size_t got = 1;
  while (got > 0) {
    const std::size_t had = bytes.size();
    bytes.resize(had < 4096 ? 65536 : 2 * had);
    got = std::fread(&bytes[had], 1, bytes.size() - had, in);
    bytes.resize(had + got);
  }
  const int failure = std::ferror(in) ? errno : 0;  // a directory, a broken disk
  std::fclose(in);
  if (failure != 0)
    throw error(text() << "lamina: " << path << ": cannot be read: " << reason_of(failure));
  return bytes;
}

/// Where the bytes of a file are written: beside the file that a path leads to, links followed, to
/// be renamed when they are whole. A device or a pipe takes them as they come and stays what it is.
class written_place {
 public:
  LAMINA_COLD explicit written_place(const std::string& path) : target_(path) {
    struct stat found {};
    in_place_ =
        ::stat(path.c_str(), &found) == 0 && !S_ISREG(found.st_mode) && !S_ISDIR(found.st_mode);
    if (!in_place_ && ::lstat(path.c_str(), &found) == 0 && S_ISLNK(found.st_mode))
      if (char* const real = ::realpath(path.c_str(), nullptr)) {
        target_ = real;
        std::free(real);
      }
    beside_ = in_place_ ? target_ : target_ + ".writing";
  }

  std::FILE* open() const { return std::fopen(beside_.c_str(), "wb"); }
  /// All bytes are written and the file is closed: false, with errno, when they cannot be renamed.
  bool keep() const { return in_place_ || std::rename(beside_.c_str(), target_.c_str()) == 0; }
  /// Removes what was written.
  void drop() const {
    if (!in_place_) std::remove(beside_.c_str());
  }

 private:
  std::string target_, beside_;
  bool in_place_;
};

/// Writes a file beside its place and renames it: whoever reads it sees the old bytes or the new
/// ones. Throws lamina::error naming the path when it cannot be written; the old file is whole
/// then.
LAMINA_COLD inline void write_file(const std::string& path, const std::string& bytes) {
  const written_place place(path);
  std::FILE* out = place.open();
  bool good = out != nullptr && std::fwrite(bytes.data(), 1, bytes.size(), out) == bytes.size();
  int failure = errno;
  if (out != nullptr && std::fclose(out) != 0 && good) {
    good = false;
    failure = errno;
  }
  if (good && !place.keep()) {
    good = false;
    failure = errno;
  }
  if (good) return;
  if (out != nullptr) place.drop();
  throw error(text() << "lamina: " << path << ": cannot be written: " << reason_of(failure));
}

/// Removes a file; throws lamina::error naming it when that fails.
LAMINA_COLD inline void remove_file(const std::string& path) {
  if (std::remove(path.c_str()) != 0)
    throw error(text() << "lamina: " << path << ": cannot be removed: " << reason_of(errno));
}

/// Makes a directory and those above it, as far as they are missing. Throws lamina::error naming it
/// when that fails.
LAMINA_COLD inline void make_directories(const std::string& path) {
  int failure = 0;
  for (std::size_t end = 1; end <= path.size(); ++end) {
    if (end < path.size() && path[end] != '/') continue;
    if (::mkdir(path.substr(0, end).c_str(), 0777) != 0) failure = errno;
  }
  struct stat found {};
  if (::stat(path.c_str(), &found) == 0) {
    if (S_ISDIR(found.st_mode)) return;
    failure = ENOTDIR;
  }
  throw error(text() << "lamina: " << path
                     << ": cannot be made a directory: " << reason_of(failure));
}

/// Calls `visit` with the names in a directory, in no order; never when there is no such directory.
/// Throws lamina::error naming it when it cannot be read.
template <class Visit>
LAMINA_COLD void for_each_name(const std::string& directory, Visit visit) {
  DIR* open = ::opendir(directory.c_str());
  if (open == nullptr) {
    if (errno == ENOENT || errno == ENOTDIR) return;
    throw error(text() << "lamina: " << directory << ": cannot be read: " << reason_of(errno));
  }
  while (const dirent* entry = ::readdir(open)) visit(std::string_view(entry->d_name));
  ::closedir(open);
}

}  // namespace lamina
