// SPDX-License-Identifier: Apache-2.0
// lamina/core/system/files_only.hpp - the functions of system_functions.hpp where POSIX's files are
// all that the system has: WASI, and the C library newlib on processors without an operating
// system. There are no processes, locks, owners and memory maps.
#pragma once

#include <lamina/core/config.hpp>

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <string>
#include <vector>

#if defined(__wasi__)
#include <dirent.h>
#endif
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <lamina/core/system/system_functions.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace detail { namespace system {

inline file_status status_from(int result, const struct ::stat& found) {
  file_status s;
  if (result != 0) return s;
  s.kind = S_ISREG(found.st_mode)   ? file_kind::regular
           : S_ISDIR(found.st_mode) ? file_kind::folder
                                    : file_kind::other;
  s.size = static_cast<std::uint64_t>(found.st_size);
  s.modified = found.st_mtime;
  return s;
}

file_status status_of(const std::string& path) {
  struct ::stat found {};
  const int result = ::stat(path.c_str(), &found);
  return status_from(result, found);
}

file_status status_of_entry(const std::string& path) { return status_of(path); }

file_status status_of(int file) {
  struct ::stat found {};
  const int result = ::fstat(file, &found);
  return status_from(result, found);
}

int open_path(const std::string& path, file_use use, unsigned) {
  const int flags = use == file_use::overwrite ? O_WRONLY | O_TRUNC
                    : use == file_use::create  ? O_WRONLY | O_CREAT | O_EXCL
                                               : O_RDONLY;
  return ::open(path.c_str(), flags, 0666);
}

bool close_file(int file) { return ::close(file) == 0; }

long long read_some(int file, void* to, std::size_t n) { return ::read(file, to, n); }

long long write_some(int file, const void* from, std::size_t n) { return ::write(file, from, n); }

long long read_some_at(int file, void* to, std::size_t n, std::uint64_t offset) {
  return seek(file, offset) ? read_some(file, to, n) : -1;
}

bool seek(int file, std::uint64_t offset) {
  return ::lseek(file, static_cast<::off_t>(offset), SEEK_SET) >= 0;
}

bool sync_file(int file) {
#if defined(__wasi__)
  return ::fsync(file) == 0 || errno == ENOSYS || errno == ENOTSUP;
#else
  return file >= 0;
#endif
}

void take_over(int, const file_status&) {}

bool lock_file(int, bool& can) {
  can = false;
  return true;
}

bool may_write(const std::string& path) { return status_of(path).kind == file_kind::regular; }

bool rename_file(const std::string& from, const std::string& to) {
  return std::rename(from.c_str(), to.c_str()) == 0;
}

#if defined(__wasi__)
bool remove_path(const std::string& path) {
  return (status_of(path).kind == file_kind::folder ? ::rmdir(path.c_str())
                                                    : ::unlink(path.c_str())) == 0;
}

bool make_folder(const std::string& path) { return ::mkdir(path.c_str(), 0777) == 0; }

bool names_in(const std::string& folder, std::vector<std::string>& names) {
  ::DIR* const open = ::opendir(folder.c_str());
  if (open == nullptr) return false;
  while (const ::dirent* entry = ::readdir(open)) names.emplace_back(entry->d_name);
  ::closedir(open);
  return true;
}
#else
inline bool refuse() {
  errno = ENOSYS;
  return false;
}

bool remove_path(const std::string& path) { return ::unlink(path.c_str()) == 0; }

bool make_folder(const std::string&) { return refuse(); }

bool names_in(const std::string&, std::vector<std::string>&) { return refuse(); }
#endif

std::string link_text(const std::string&) { return {}; }

std::string resolved_path(const std::string& path) { return path; }

bool matching_paths(const std::string& pattern, std::vector<std::string>& paths) {
  if (pattern.find_first_of("*?[") != std::string::npos) {
    errno = ENOSYS;
    return false;
  }
  if (status_of(pattern).kind != file_kind::missing) paths.push_back(pattern);
  return true;
}

bool is_separator(char c) { return c == '/'; }

bool is_absolute(const std::string& path) { return path.starts_with('/'); }

std::string home_folder() {
  const char* const home = std::getenv("HOME");  // NOLINT: a program reads it when it starts
  return home == nullptr ? std::string() : std::string(home);
}

// Callers read a file that cannot be mapped.
const void* map_file(int, std::size_t) { return nullptr; }

void unmap_file(const void*, std::size_t) {}

void forget_file_pages(const void*, std::size_t) {}

long process_id() { return 1; }

bool is_running(long process) { return process == 1; }

int run_program(const std::vector<std::string>&) {
  errno = ENOSYS;
  return -1;
}

int processors() { return 1; }

bool is_terminal(std::FILE*) { return false; }

double steady_seconds() {
#if defined(CLOCK_MONOTONIC)
  struct ::timespec now {};
  ::clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
#else
  return static_cast<double>(std::time(nullptr));
#endif
}

std::uint64_t nanoseconds_since_1970() {
  return static_cast<std::uint64_t>(std::time(nullptr)) * 1'000'000'000;
}

std::tm local_time(std::time_t seconds) { return *std::localtime(&seconds); }

}}}}  // namespace lamina::detail::system
