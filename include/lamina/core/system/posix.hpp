// SPDX-License-Identifier: Apache-2.0
// lamina/core/system/posix.hpp - the functions of system_functions.hpp on POSIX: Linux, macOS, BSD.
#pragma once

#include <lamina/core/config.hpp>

#include <cerrno>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <string>
#include <vector>

#include <dirent.h>
#include <fcntl.h>
#include <glob.h>
#include <spawn.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#if defined(__linux__)
#include <sys/vfs.h>
#endif
#include <sys/wait.h>
#include <unistd.h>

#include <lamina/core/system/system_functions.hpp>

extern "C" char** environ;  // NOLINT: POSIX declares it in no header

namespace lamina { inline namespace LAMINA_ABI { namespace detail { namespace system {

/// Repeats a system call while signals interrupt it.
template <class Call>
LAMINA_COLD auto uninterrupted(Call call) {
  auto result = call();
  while (result < 0 && errno == EINTR) result = call();
  return result;
}

inline file_status status_from(int result, const struct ::stat& found) {
  file_status s;
  if (result != 0) return s;
  s.kind = S_ISREG(found.st_mode)   ? file_kind::regular
           : S_ISDIR(found.st_mode) ? file_kind::folder
                                    : file_kind::other;
  s.size = static_cast<std::uint64_t>(found.st_size);
  s.modified = found.st_mtime;
  s.mode = found.st_mode & 07777;
  s.owner = found.st_uid;
  s.group = found.st_gid;
  return s;
}

file_status status_of(const std::string& path) {
  struct ::stat found {};
  const int result = ::stat(path.c_str(), &found);
  return status_from(result, found);
}

file_status status_of_entry(const std::string& path) {
  struct ::stat found {};
  const int result = ::lstat(path.c_str(), &found);
  return status_from(result, found);
}

file_status status_of(int file) {
  struct ::stat found {};
  const int result = ::fstat(file, &found);
  return status_from(result, found);
}

int open_path(const std::string& path, file_use use, unsigned mode) {
  const int flags = use == file_use::read        ? O_RDONLY
                    : use == file_use::overwrite ? O_WRONLY | O_TRUNC
                    : use == file_use::create    ? O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW
                                                 : O_RDONLY | O_NOFOLLOW | O_NONBLOCK;
  return uninterrupted(
      [&] { return ::open(path.c_str(), flags | O_CLOEXEC, static_cast<::mode_t>(mode)); });
}

bool close_file(int file) { return ::close(file) == 0 || errno == EINTR; }

long long read_some(int file, void* to, std::size_t n) {
  return uninterrupted([&] { return ::read(file, to, n); });
}

long long write_some(int file, const void* from, std::size_t n) {
  return uninterrupted([&] { return ::write(file, from, n); });
}

long long read_some_at(int file, void* to, std::size_t n, std::uint64_t offset) {
  return uninterrupted([&] { return ::pread(file, to, n, static_cast<::off_t>(offset)); });
}

bool seek(int file, std::uint64_t offset) {
  return ::lseek(file, static_cast<::off_t>(offset), SEEK_SET) >= 0;
}

bool sync_file(int file) {
  return uninterrupted([&] { return ::fsync(file); }) == 0 || errno == EINVAL || errno == ENOTSUP ||
         errno == ENOSYS;
}

void take_over(int file, const file_status& old) {
  struct ::stat own {};
  if (::fstat(file, &own) != 0) return;
  ::mode_t mode = static_cast<::mode_t>(old.mode);
  const bool other = own.st_uid != old.owner || own.st_gid != old.group;
  if (other && ::fchown(file, old.owner, old.group) != 0 &&
      ::fchown(file, static_cast<::uid_t>(-1), old.group) != 0)
    mode &= 0777;  // drops the set-id bits: the owner may differ
  if ((own.st_mode & 07777) != mode || other)
    if (::fchmod(file, mode) != 0) return;
}

// Network file systems count as file systems without locks, because a lock may hang there.
bool lock_file(int file, bool& can) {
#if defined(__linux__)
  // The numbers of NFS, SMB (three kinds), Lustre, FUSE, AFS, Coda, 9P, Ceph and GPFS.
  static constexpr unsigned long of_networks[] = {0x6969,     0x517b,     0xff534d42, 0xfe534d42,
                                                  0x0bd00bd0, 0x65735546, 0x5346414f, 0x73757245,
                                                  0x01021997, 0x00c36400, 0x47504653};
  struct ::statfs found {};
  can = ::fstatfs(file, &found) == 0;
  for (const unsigned long type : of_networks)
    can = can && (static_cast<unsigned long>(found.f_type) & 0xffffffff) != type;
#else
  can = true;
#endif
  if (!can || uninterrupted([&] { return ::flock(file, LOCK_EX | LOCK_NB); }) == 0) return true;
  can = errno == EWOULDBLOCK;
  return !can;
}

bool may_write(const std::string& path) {
  return ::faccessat(AT_FDCWD, path.c_str(), W_OK, AT_EACCESS) == 0;
}

bool rename_file(const std::string& from, const std::string& to) {
  // The rename must reach the disk too, so the folder is synchronised, unless it has no read
  // permission. The folder is opened first, because no step may fail once the old file is gone.
  const std::string path = to.substr(0, to.rfind('/') + 1);
  const int folder = uninterrupted([&] {
    return ::open(path.empty() ? "." : path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  });
  bool good = std::rename(from.c_str(), to.c_str()) == 0;
  if (folder < 0) return good;
  good = good && sync_file(folder);
  const int failure = errno;
  ::close(folder);
  errno = failure;
  return good;
}

bool remove_path(const std::string& path) { return std::remove(path.c_str()) == 0; }

bool remove_folder(const std::string& path) { return ::rmdir(path.c_str()) == 0; }

bool make_folder(const std::string& path) { return ::mkdir(path.c_str(), 0777) == 0; }

std::string link_text(const std::string& path) {
  char leads_to[4096];
  const ::ssize_t n = ::readlink(path.c_str(), leads_to, sizeof leads_to);
  if (n <= 0 || n == sizeof leads_to) return {};
  return std::string(leads_to, static_cast<std::size_t>(n));
}

std::string resolved_path(const std::string& path) {
  char* const found = ::realpath(path.c_str(), nullptr);
  const std::string resolved = found == nullptr ? "" : found;
  std::free(found);
  return resolved;
}

bool names_in(const std::string& folder, std::vector<std::string>& names) {
  struct open_folder {
    ::DIR* entries;
    ~open_folder() {
      if (entries != nullptr) ::closedir(entries);
    }
  };
  int failure = 0;
  {
    const open_folder open{::opendir(folder.c_str())};
    if (open.entries == nullptr) return false;
    for (errno = 0; const ::dirent* entry = ::readdir(open.entries); errno = 0)
      names.emplace_back(entry->d_name);
    failure = errno;
  }
  errno = failure;
  return failure == 0;
}

bool matching_paths(const std::string& pattern, std::vector<std::string>& paths) {
  struct matches {
    ::glob_t found{};
    ~matches() { ::globfree(&found); }
  } all;
  const int failure = ::glob(pattern.c_str(), 0, nullptr, &all.found);
  for (std::size_t i = 0; failure == 0 && i < all.found.gl_pathc; ++i)
    paths.emplace_back(all.found.gl_pathv[i]);
  return failure == 0 || failure == GLOB_NOMATCH;
}

bool is_separator(char c) { return c == '/'; }

bool is_absolute(const std::string& path) { return path.starts_with('/'); }

std::string home_folder() {
  const char* const home = std::getenv("HOME");  // NOLINT: a program reads it when it starts
  return home == nullptr ? std::string() : std::string(home);
}

const void* map_file(int file, std::size_t size) {
  void* const found = ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, file, 0);
  if (found == MAP_FAILED) return nullptr;
  ::madvise(found, size, MADV_SEQUENTIAL);
  return found;
}

void unmap_file(const void* bytes, std::size_t size) {
  ::munmap(const_cast<void*>(bytes), size);  // NOLINT: munmap takes void*
}

void forget_file_pages(const void* bytes, std::size_t size) {
  ::madvise(const_cast<void*>(bytes), size, MADV_DONTNEED);  // NOLINT
}

long process_id() { return ::getpid(); }

bool is_running(long process) {
  return ::kill(static_cast<::pid_t>(process), 0) == 0 || errno != ESRCH;
}

int run_program(const std::vector<std::string>& words) {
  std::vector<char*> pointers;
  for (const std::string& word : words)
    pointers.push_back(const_cast<char*>(word.c_str()));  // NOLINT: posix_spawn takes char*
  pointers.push_back(nullptr);
  ::pid_t child = 0;
  errno = ::posix_spawnp(&child, pointers[0], nullptr, nullptr, pointers.data(), environ);
  if (errno != 0) return -1;
  int status = 0;
  if (uninterrupted([&] { return ::waitpid(child, &status, 0); }) < 0) return -1;
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

int processors() { return static_cast<int>(::sysconf(_SC_NPROCESSORS_ONLN)); }

bool is_terminal(std::FILE* to) { return ::isatty(::fileno(to)) != 0; }

double steady_seconds() {
  struct ::timespec now {};
  ::clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

std::uint64_t nanoseconds_since_1970() {
  struct ::timespec now {};
  ::clock_gettime(CLOCK_REALTIME, &now);
  return static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000 +
         static_cast<std::uint64_t>(now.tv_nsec);
}

std::tm local_time(std::time_t seconds) {
  std::tm local{};
  ::localtime_r(&seconds, &local);
  return local;
}

}}}}  // namespace lamina::detail::system
