// SPDX-License-Identifier: Apache-2.0
// lamina/core/files/paths.hpp - folders and names in paths, with the separators of the operating
// system. <filesystem> would make the include of lamina.hpp take 1.2 times as long.
#pragma once

#include <lamina/core/config.hpp>

#include <cstddef>
#include <string>

#include <lamina/core/system/system.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace detail {

/// Returns the part of a path up to its last separator, which is included: "a/b" -> "a/",
/// "b" -> "". On Windows, "C:b" -> "C:".
LAMINA_API_COLD std::string folder_of(const std::string& path);
/// Returns the part of a path after folder_of().
inline std::string file_name_of(const std::string& path) {
  return path.substr(folder_of(path).size());
}

/// Returns whether a path that comes from a file or a server leads to a place below the folder to
/// which the caller appends it. It must not be empty or absolute, and must contain neither a zero
/// nor the part "..". A backslash separates such parts on all systems, because the path may have
/// been written on another one.
LAMINA_API_COLD bool is_inner_path(const std::string& path);
/// Returns whether a text names a file in the folder to which the caller appends it.
LAMINA_API_COLD bool is_file_name(const std::string& name);

#if LAMINA_DEFINES

std::string folder_of(const std::string& path) {
  std::size_t size = path.size();
  while (size > 0 && !system::is_separator(path[size - 1])) --size;
  if (size == 0 && system::is_absolute(path)) size = 2;  // a drive
  return path.substr(0, size);
}

bool is_inner_path(const std::string& path) {
  if (path.empty() || system::is_absolute(path) || path.find('\0') != path.npos) return false;
  for (std::size_t begin = 0, end = 0; end < path.size(); begin = end + 1) {
    end = path.find_first_of("/\\", begin);
    if (end == path.npos) end = path.size();
    if (path.compare(begin, end - begin, "..") == 0) return false;
  }
  return true;
}

bool is_file_name(const std::string& name) {
  return is_inner_path(name) && name != "." && folder_of(name).empty();
}

#endif  // LAMINA_DEFINES

}}}  // namespace lamina::detail
