// SPDX-License-Identifier: Apache-2.0
// lamina/core/system/system_functions.hpp - the functions of the operating system that lamina
// calls, as each system must provide them. Include system.hpp, which has the bodies.
//
// Paths are UTF-8. A function that fails sets errno and says so by its result, unless its comment
// says otherwise.
#pragma once

#include <lamina/core/config.hpp>

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <ctime>
#include <string>
#include <vector>

namespace lamina { inline namespace LAMINA_ABI {

/// What open_file does with a file.
enum class file_use {
  read,       ///< reads it; a folder opens too, but cannot be read
  overwrite,  ///< discards the bytes of an existing file and writes
  create,     ///< makes a file that must not exist, and writes
  left_file,  ///< reads a file to lock it; does not follow a link and does not wait for a pipe
};

namespace detail { namespace system {

enum class file_kind { missing, regular, folder, other };

/// The facts about a file. If it does not exist or cannot be found, `kind` is missing, and errno
/// says why.
struct file_status {
  file_kind kind = file_kind::missing;
  std::uint64_t size = 0;
  std::int64_t modified = 0;  // time of the last write, in seconds since 1970
  // The permission bits and the owner, for take_over(). Windows leaves them 0.
  unsigned mode = 0, owner = 0, group = 0;
};
/// Returns the facts about the file to which a path leads.
LAMINA_API_COLD file_status status_of(const std::string& path);
/// Does the same, but for a symbolic link returns the facts about the link, of kind `other`.
LAMINA_API_COLD file_status status_of_entry(const std::string& path);
LAMINA_API_COLD file_status status_of(int file);

/// Returns the number of the opened file, or -1. `mode` has the permission bits of a new file.
LAMINA_API_COLD int open_path(const std::string& path, file_use use, unsigned mode);
/// Closes a file. Returns false if the system reports the failure of an earlier write only now.
LAMINA_API_COLD bool close_file(int file);
/// Reads or writes up to n bytes with one call, which is repeated while signals interrupt it.
/// Return the number of bytes, which is 0 at the end of a file, or -1.
LAMINA_API_COLD long long read_some(int file, void* to, std::size_t n);
LAMINA_API_COLD long long write_some(int file, const void* from, std::size_t n);
/// Does what read_some() does, at an offset. Several threads may do so with one file.
LAMINA_API_COLD long long read_some_at(int file, void* to, std::size_t n, std::uint64_t offset);
/// Sets the offset at which the next read begins.
LAMINA_API_COLD bool seek(int file, std::uint64_t offset);
/// Waits until the bytes of a file are on the disk. On a file system that cannot wait, returns true
/// at once.
LAMINA_API_COLD bool sync_file(int file);
/// Gives the new file `file` the owner and the permissions of an old file, as far as the system
/// allows. On Windows, a new file has the permissions of its folder.
LAMINA_API_COLD void take_over(int file, const file_status& old);
/// Locks an open file until it is closed. Returns false if another process has locked it. If the
/// file system has no locks, sets `can` to false and returns true.
LAMINA_API_COLD bool lock_file(int file, bool& can);

/// Returns whether this process may write to an existing file.
LAMINA_API_COLD bool may_write(const std::string& path);
/// Renames a file; a file with the new name is replaced at once. The rename is on the disk when the
/// function returns.
LAMINA_API_COLD bool rename_file(const std::string& from, const std::string& to);
/// Removes a file or an empty folder.
LAMINA_API_COLD bool remove_path(const std::string& path);
/// Removes an empty folder, and no file.
LAMINA_API_COLD bool remove_folder(const std::string& path);
LAMINA_API_COLD bool make_folder(const std::string& path);
/// Returns the path in a symbolic link, or an empty text for other files.
LAMINA_API_COLD std::string link_text(const std::string& path);
/// Returns the absolute path without links of an existing file, or an empty text.
LAMINA_API_COLD std::string resolved_path(const std::string& path);
/// Adds the names in a folder to `names`, also "." and "..".
LAMINA_API_COLD bool names_in(const std::string& folder, std::vector<std::string>& names);
/// Adds the existing paths that match a shell pattern with *, ? and [...], unsorted.
LAMINA_API_COLD bool matching_paths(const std::string& pattern, std::vector<std::string>& paths);
/// Returns whether a character ends the name of a folder in a path.
LAMINA_API_COLD bool is_separator(char c);
/// Returns whether a path does not depend on the current folder.
LAMINA_API_COLD bool is_absolute(const std::string& path);

/// Maps the first `size` bytes of a file that is open for reading, which the caller will read from
/// the front. Returns null if the system cannot map them.
LAMINA_API_COLD const void* map_file(int file, std::size_t size);
LAMINA_API_COLD void unmap_file(const void* bytes, std::size_t size);
/// Says that whole pages of a mapped file have been read. A later access reads them again.
LAMINA_API_COLD void forget_file_pages(const void* bytes, std::size_t size);

/// Returns the folder of the user's files, or an empty text if the environment names none.
LAMINA_API_COLD std::string home_folder();
/// Returns the id of this process, which differs in a forked child.
LAMINA_API long process_id();
/// Returns whether a process with this id runs on this machine.
LAMINA_API_COLD bool is_running(long process);
/// Runs a program, found as a shell finds it, with arguments, and waits for its end. Returns its
/// exit status, above 128 if a signal ended it; or -1 if the system cannot start it.
LAMINA_API_COLD int run_program(const std::vector<std::string>& words);
/// Returns the number of processors that the system has.
LAMINA_API_COLD int processors();
/// Returns whether a stream writes to a terminal that can redraw a line.
LAMINA_API_COLD bool is_terminal(std::FILE* to);

/// Returns the seconds since some time in the past, from a monotonic clock. <chrono> would make the
/// include of lamina.hpp take 1.1 times as long (docs/compile_time.md, "Headers of others").
LAMINA_API double steady_seconds();
/// Returns the nanoseconds since 1970.
LAMINA_API_COLD std::uint64_t nanoseconds_since_1970();
/// Returns a time in the local time zone.
LAMINA_API_COLD std::tm local_time(std::time_t seconds);

}}  // namespace detail::system

}}  // namespace lamina
