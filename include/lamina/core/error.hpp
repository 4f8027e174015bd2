// SPDX-License-Identifier: Apache-2.0
// lamina/core/error.hpp - the exceptions that lamina throws at run time.
#pragma once

#include <lamina/core/config.hpp>

#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>

#include <lamina/core/text.hpp>

namespace lamina::inline LAMINA_ABI {

/// Bad data or bad use at run time. The message names the subject, what was expected and what was
/// found.
class error : public std::runtime_error {
 public:
  LAMINA_COLD explicit error(const std::string& what) : std::runtime_error(visible(what)) {}

 private:
  /// what() would end at a zero byte, which paths and names in files may contain.
  LAMINA_COLD static std::string visible(std::string what) {
    for (std::size_t at = 0; (at = what.find('\0', at)) != what.npos;) what.replace(at, 1, "\\0");
    return what;
  }
};

/// A damaged or foreign file: the message names the file, the byte offset and the reason.
class format_error : public error {
 public:
  LAMINA_COLD format_error(const std::string& file, std::uint64_t offset, const std::string& reason)
      : error(text() << "lamina: " << file << ", offset " << offset << ": " << reason),
        file_(file),
        offset_(offset) {}

  /// The path as the caller gave it.
  const std::string& file() const noexcept { return file_; }
  /// The byte offset at which reading failed.
  std::uint64_t offset() const noexcept { return offset_; }

 private:
  std::string file_;
  std::uint64_t offset_;
};

}  // namespace lamina::inline LAMINA_ABI
