// SPDX-License-Identifier: Apache-2.0
// lamina/core/files/open_file.hpp - an open file, and the names in a directory.
#pragma once

#include <lamina/core/config.hpp>

#include <cerrno>
#include <cstddef>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include <lamina/core/messages/error.hpp>
#include <lamina/core/messages/text.hpp>
#include <lamina/core/system/system.hpp>

namespace lamina { inline namespace LAMINA_ABI {

/// Returns the text of an errno value.
LAMINA_API_COLD std::string reason_of(int failure);

/// An open file. If a signal interrupts a function, the function continues; it repeats partial
/// reads and writes until all bytes are read or written.
class open_file {
 public:
  open_file() = default;
  /// When opening fails, is_open() is false and errno is set. `mode` has the permission bits of a
  /// new file, where the system has such.
  LAMINA_API LAMINA_COLD explicit open_file(const std::string& path, file_use use = file_use::read,
                                            unsigned mode = 0666);
  open_file(open_file&& other) noexcept : number_(std::exchange(other.number_, -1)) {}
  open_file& operator=(open_file&& other) noexcept {
    std::swap(number_, other.number_);
    return *this;
  }
  LAMINA_API LAMINA_COLD ~open_file();

  bool is_open() const { return number_ >= 0; }
  int number() const { return number_; }

  /// Reads up to n bytes and returns the number of bytes read, which is below n only at the end of
  /// the file. Returns -1, with errno set, if the system cannot read.
  LAMINA_API LAMINA_COLD long long read(void* to, std::size_t n) const;
  /// Reads the rest of the file. Returns false, with errno set, if the system cannot read.
  LAMINA_API LAMINA_COLD bool read_all(std::string& to) const;
  /// Writes n bytes. Returns false, with errno set, if not all bytes could be written.
  LAMINA_API LAMINA_COLD bool write(const void* from, std::size_t n) const;
  /// Waits until the bytes are on the disk and returns true; on a file system that cannot wait,
  /// returns true at once. Returns false, with errno set, if the system reports an error.
  LAMINA_API LAMINA_COLD bool sync() const;
  /// Closes the file. Returns false, with errno set, if the system reports the failure of an
  /// earlier write only now.
  LAMINA_API LAMINA_COLD bool close();

 private:
  static constexpr std::size_t most = std::size_t{1} << 30;  // maximum bytes per call
  int number_ = -1;
};

/// Calls `visit` with each name in a directory, in no particular order. If the directory does not
/// exist, there are no calls. Throws lamina::error with its name if it cannot be read.
template <class Visit>
LAMINA_COLD void for_each_name(const std::string& directory, Visit visit) {
  std::vector<std::string> names;
  if (!detail::system::names_in(directory, names)) {
    if (errno == ENOENT || errno == ENOTDIR) return;
    LAMINA_THROW error(text() << "lamina: " << directory
                              << ": cannot be read: " << reason_of(errno));
  }
  for (const std::string& name : names) visit(std::string_view(name));
}

#if LAMINA_DEFINES

std::string reason_of(int failure) { return std::generic_category().message(failure); }

open_file::open_file(const std::string& path, file_use use, unsigned mode) {
  errno = EINVAL;  // at a zero byte the system would end the path and open another file
  if (path.find('\0') == path.npos) number_ = detail::system::open_path(path, use, mode);
}

open_file::~open_file() { close(); }

long long open_file::read(void* to, std::size_t n) const {
  std::size_t had = 0;
  while (had < n) {
    const long long got = detail::system::read_some(number_, static_cast<char*>(to) + had,
                                                    n - had < most ? n - had : most);
    if (got < 0) return -1;
    if (got == 0) break;
    had += static_cast<std::size_t>(got);
  }
  return static_cast<long long>(had);
}

bool open_file::read_all(std::string& to) const {
  for (;;) {
    const std::size_t had = to.size(), more = had < 65536 ? 65536 : had;
    to.resize(had + more);
    const long long got = read(&to[had], more);
    to.resize(had + static_cast<std::size_t>(got < 0 ? 0 : got));
    if (got < static_cast<long long>(more)) return got >= 0;
  }
}

bool open_file::write(const void* from, std::size_t n) const {
  std::size_t had = 0;
  while (had < n) {
    const long long got = detail::system::write_some(number_, static_cast<const char*>(from) + had,
                                                     n - had < most ? n - had : most);
    if (got == 0) errno = ENOSPC;
    if (got <= 0) return false;
    had += static_cast<std::size_t>(got);
  }
  return true;
}

bool open_file::sync() const { return detail::system::sync_file(number_); }

bool open_file::close() {
  const int number = std::exchange(number_, -1);
  return number < 0 || detail::system::close_file(number);
}

#endif  // LAMINA_DEFINES

}}  // namespace lamina
