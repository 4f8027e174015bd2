// SPDX-License-Identifier: Apache-2.0
// lamina/core/files/left_files.hpp - names of temporary files, and the removal of
// temporary files whose writers were killed.
#pragma once

#include <lamina/core/config.hpp>

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include <lamina/core/files/open_file.hpp>
#include <lamina/core/messages/error.hpp>
#include <lamina/core/messages/text.hpp>
#include <lamina/core/system/system.hpp>

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

/// Removes the temporary files that killed writers left in a folder. A file is removed only if its
/// writer has not locked it and it is more than an hour older than `now`, the time of the folder's
/// file system. The age is required because the writer may run on another machine that shares the
/// folder, where its lock may be invisible. On a file system without locks, the process id in the
/// name decides: the writer is dead if no process has this id, or if this process has the id but
/// did not make the file.
LAMINA_API_COLD void remove_left_files(const std::string& folder, std::int64_t now);

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
  static const unsigned long long first = system::nanoseconds_since_1970();
  return first;
}

void remove_left_files(const std::string& folder, std::int64_t now) {
  const auto remove_left = [&](std::string_view name) {
    const file_writer writer = writer_of(name);
    if (writer.process == 0) return;
    const std::string path = text() << folder << name;
    const system::file_status found = system::status_of_entry(path);
    if (found.kind != system::file_kind::regular || now - found.modified <= 3600) return;
    const open_file left(path, file_use::left_file);
    bool can = false;
    if (left.is_open() && !system::lock_file(left.number(), can)) return;
    // The numbers of this process are larger than those of dead processes with the same id.
    const long own = system::process_id();
    const bool is_own = writer.process == own && writer.number >= first_number_of_writer();
    const auto lives = [&] {
      return is_own || (writer.process != own && system::is_running(writer.process));
    };
    if (can || !lives()) system::remove_path(path);
  };
  LAMINA_TRY { for_each_name(folder.empty() ? "." : folder, remove_left); }
  LAMINA_CATCH(const error& e) {  // the caller may not read the folder
  }
}

#endif  // LAMINA_DEFINES

}}}  // namespace lamina::detail
