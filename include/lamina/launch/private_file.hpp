// SPDX-License-Identifier: Apache-2.0
// lamina/launch/private_file.hpp - temporary files that only their user can read.
#pragma once

#include <lamina/core/config.hpp>

#include <cerrno>
#include <cstddef>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <string_view>
#include <system_error>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <lamina/core/messages/error.hpp>
#include <lamina/core/messages/text.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace distributed {

/// A temporary folder, below TMPDIR or /tmp, that only its user can read. The destructor removes it
/// with all its contents.
class private_folder {
 public:
  /// Throws lamina::error if the folder cannot be created.
  LAMINA_COLD private_folder() {
    const char* const above = std::getenv("TMPDIR");
    path_ = std::string(above == nullptr || above[0] == '\0' ? "/tmp" : above) + "/lamina.XXXXXX";
    if (::mkdtemp(path_.data()) == nullptr)
      throw error(text() << "lamina: launch: expected to make a folder " << path_
                         << ", found no way");
  }
  private_folder(const private_folder&) = delete;
  private_folder& operator=(const private_folder&) = delete;
  LAMINA_COLD ~private_folder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  const std::string& path() const { return path_; }

  /// Writes a file to this folder, which only its user can read, and returns its path.
  LAMINA_COLD std::string write(std::string_view name, std::string_view bytes) const {
    const std::string path = path_ + "/" + std::string(name);
    const int file = ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    bool is_written = file >= 0;
    while (is_written && !bytes.empty()) {
      const ::ssize_t count = ::write(file, bytes.data(), bytes.size());
      if (count < 0 && errno == EINTR) continue;
      is_written = count > 0;
      if (is_written) bytes.remove_prefix(static_cast<std::size_t>(count));
    }
    if (file >= 0) ::close(file);
    if (!is_written)
      throw error(text() << "lamina: launch: expected to write " << path << ", found no way");
    return path;
  }

 private:
  std::string path_;
};

/// A temporary file that only its user can read. The destructor removes it.
class private_file {
 public:
  LAMINA_COLD explicit private_file(std::string_view bytes) : path_(folder_.write("file", bytes)) {}
  const std::string& path() const { return path_; }

 private:
  private_folder folder_;
  std::string path_;
};

}}}  // namespace lamina::distributed
