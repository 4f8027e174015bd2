// SPDX-License-Identifier: Apache-2.0
// lamina/core/error.hpp - what lamina throws at run time.
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>

#include <lamina/core/config.hpp>
#include <lamina/core/text.hpp>

namespace lamina {

/// Bad data or bad use at run time. The text names the subject, what was expected and what was
/// found.
class error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// A damaged or foreign file: the text names the file, the byte offset and the reason.
class format_error : public error {
 public:
  LAMINA_COLD format_error(const std::string& file, std::uint64_t offset, const std::string& reason)
      : error(text() << "lamina: " << file << ", offset " << offset << ": " << reason),
        file_(file),
        offset_(offset) {}

  /// The path as it was given.
  const std::string& file() const noexcept { return file_; }
  /// The byte at which reading could not go on.
  std::uint64_t offset() const noexcept { return offset_; }

 private:
  std::string file_;
  std::uint64_t offset_;
};

}  // namespace lamina
