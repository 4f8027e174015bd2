// SPDX-License-Identifier: Apache-2.0
// lamina/core/files/left_files.hpp - names and locks of temporary files, and the removal of
// temporary files whose writers were killed.
#pragma once

#include <lamina/core/config.hpp>

#include <cerrno>
#include <csignal>
#include <cstddef>
#include <ctime>
#include <string>
#include <string_view>

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#if defined(__linux__)
#include <sys/vfs.h>
#endif
#include <unistd.h>

#include <lamina/core/files/open_file.hpp>
#include <lamina/core/messages/error.hpp>
#include <lamina/core/messages/text.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace detail {

/// The writer of a temporary file, as its name "NAME.PROCESS-NUMBER.writing" states it: the process
/// id, and the number that this process gave to the file.
struct file_writer {
  long process = 0;  // 0: the name has another form
  unsigned long long number = 0;
};
LAMINA_API_COLD file_writer writer_of(std::string_view name);

/// Returns the number of the first temporary file of this process. This number is the time in
/// nanoseconds instead of 0, because process ids repeat: in containers each writer may be process
/// 1.
LAMINA_API_COLD unsigned long long first_number_of_writer();

/// Locks an open file until it is closed, as a sign that its writer is running. Returns false if
/// another process has locked it. If the file system has no locks, sets `can` to false and returns
/// true. Network file systems count as file systems without locks, because a lock may hang there.
LAMINA_API_COLD bool lock_file(const open_file& file, bool& can);

/// Removes the temporary files that killed writers left in a folder. A file is removed only if its
/// writer has not locked it and it is more than an hour older than `now`, the time of the folder's
/// file system. The age is required because the writer may run on another machine that shares the
/// folder, where its lock may be invisible. On a file system without locks, the process id in the
/// name decides: the writer is dead if no process has this id, or if this process has the id but
/// did not make the file.
LAMINA_API_COLD void remove_left_files(const std::string& folder, ::time_t now);

#if LAMINA_DEFINES

file_writer writer_of(std::string_view name) {
  if (!name.ends_with(".writing")) return {};
  name.remove_suffix(8);
  const std::size_t dot = name.rfind('.'), dash = name.rfind('-');
  if (dot == name.npos || dash == name.npos || dash < dot + 2 || dash + 1 == name.size()) return {};
  file_writer found;
  for (std::size_t i = dot + 1; i < name.size(); ++i) {
    if (i == dash) continue;
    if (name[i] < '0' || name[i] > '9' || found.process > 100'000'000) return {};
    if (i < dash)
      found.process = 10 * found.process + (name[i] - '0');
    else
      found.number = 10 * found.number + static_cast<unsigned>(name[i] - '0');
  }
  return found;
}

unsigned long long first_number_of_writer() {
  static const unsigned long long first = [] {
    struct timespec now {};
    ::clock_gettime(CLOCK_REALTIME, &now);
    return static_cast<unsigned long long>(now.tv_sec) * 1'000'000'000 +
           static_cast<unsigned long long>(now.tv_nsec);
  }();
  return first;
}

bool lock_file(const open_file& file, bool& can) {
#if defined(__linux__)
  // The numbers of NFS, SMB (three kinds), Lustre, FUSE, AFS, Coda, 9P, Ceph and GPFS.
  static constexpr unsigned long of_networks[] = {0x6969,     0x517b,     0xff534d42, 0xfe534d42,
                                                  0x0bd00bd0, 0x65735546, 0x5346414f, 0x73757245,
                                                  0x01021997, 0x00c36400, 0x47504653};
  struct statfs found {};
  can = ::fstatfs(file.number(), &found) == 0;
  for (const unsigned long type : of_networks)
    can = can && (static_cast<unsigned long>(found.f_type) & 0xffffffff) != type;
#else
  can = true;
#endif
  if (!can || uninterrupted([&] { return ::flock(file.number(), LOCK_EX | LOCK_NB); }) == 0)
    return true;
  can = errno == EWOULDBLOCK;
  return !can;
}

void remove_left_files(const std::string& folder, ::time_t now) {
  const auto remove_left = [&](std::string_view name) {
    const file_writer writer = writer_of(name);
    if (writer.process == 0) return;
    const std::string path = text() << folder << name;
    struct stat found {};
    if (::lstat(path.c_str(), &found) != 0 || !S_ISREG(found.st_mode) ||
        now - found.st_mtime <= 3600)
      return;
    const open_file left(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
    bool can = false;
    if (left.is_open() && !lock_file(left, can)) return;
    // The numbers of this process are larger than those of dead processes with the same id.
    const bool is_own = writer.process == ::getpid() && writer.number >= first_number_of_writer();
    const auto lives = [&] {
      return is_own || (writer.process != ::getpid() &&
                        (::kill(static_cast<::pid_t>(writer.process), 0) == 0 || errno != ESRCH));
    };
    if (can || !lives()) ::unlink(path.c_str());
  };
  LAMINA_TRY { for_each_name(folder.empty() ? "." : folder, remove_left); }
  LAMINA_CATCH(const error& e) {  // the caller may not read the folder
  }
}

#endif  // LAMINA_DEFINES

}}}  // namespace lamina::detail
