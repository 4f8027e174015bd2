// SPDX-License-Identifier: Apache-2.0
// lamina/core/messages/error.hpp - the exceptions that lamina throws at run time, and the function
// that gets their messages with -fno-exceptions.
#pragma once

#include <lamina/core/config.hpp>

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <stdexcept>
#include <string>

#include <lamina/core/messages/text.hpp>

namespace lamina { inline namespace LAMINA_ABI {

/// The error that lamina throws at run time, for bad data or wrong use. The message names the
/// subject, what was expected and what was found.
class error : public std::runtime_error {
 public:
  LAMINA_API LAMINA_COLD explicit error(const std::string& what);

 private:
  /// Replaces zero bytes, which paths and names in files may contain, because what() would end at
  /// the first one.
  LAMINA_API LAMINA_COLD static std::string visible(std::string what);
};

/// An error in one row of a mini-batch, such as a label that is not the number of a class. Training
/// and testing catch it, add the mini-batch and the sample to the message, and throw an `error`.
class row_error : public error {
 public:
  /// `domain` is the number of the row domain (core/rows.hpp) that contains the row, for example
  /// the samples or the elements of sequences; `row` is the number of the row in the whole
  /// mini-batch.
  LAMINA_API LAMINA_COLD row_error(const std::string& what, int domain, std::int64_t row);

  int domain() const noexcept { return domain_; }
  std::int64_t row() const noexcept { return row_; }

 private:
  int domain_;
  std::int64_t row_;
};

/// The error for a file that is damaged or has another format. The message names the file, the byte
/// offset and the reason.
class format_error : public error {
 public:
  LAMINA_API LAMINA_COLD format_error(const std::string& file, std::uint64_t offset,
                                      const std::string& reason);

  /// Returns the path as given by the caller.
  const std::string& file() const noexcept { return file_; }
  /// Returns the byte offset at which reading failed.
  std::uint64_t offset() const noexcept { return offset_; }

 private:
  std::string file_;
  std::uint64_t offset_;
};

#if !LAMINA_EXCEPTIONS

/// Gets the message of an error; it must not return.
using error_handler = void (*)(const char* message);

namespace detail {
[[noreturn]] inline void print_and_abort(const char* message) {
  std::fputs(message, stderr);
  std::fputc('\n', stderr);
  std::abort();
}
inline error_handler handler_of_errors = print_and_abort;

/// LAMINA_THROW assigns the error to it.
struct thrown {
  template <class Error>
  [[noreturn]] LAMINA_COLD void operator=(const Error& error) {
    end(error.what());
  }
  [[noreturn]] LAMINA_COLD static void end(const char* message) {
    handler_of_errors(message);
    std::abort();
  }
};
/// Declares the exception of a handler that never runs.
struct caught {
  template <class Error>
  [[noreturn]] operator const Error&() const {
    std::abort();
  }
};
}  // namespace detail

/// Chooses the function that lamina calls instead of throwing an exception, where a program is
/// compiled with -fno-exceptions. Without this call, lamina prints the message to stderr and calls
/// std::abort. Call it before other threads use lamina.
inline void set_error_handler(error_handler handler) { detail::handler_of_errors = handler; }

#endif  // !LAMINA_EXCEPTIONS

#if LAMINA_DEFINES

error::error(const std::string& what) : std::runtime_error(visible(what)) {}

std::string error::visible(std::string what) {
  std::string shown;
  for (const char c : what) shown.append(c == '\0' ? "\\0" : &c, c == '\0' ? 2 : 1);
  return shown;
}

row_error::row_error(const std::string& what, int domain, std::int64_t row)
    : error(what), domain_(domain), row_(row) {}

format_error::format_error(const std::string& file, std::uint64_t offset, const std::string& reason)
    : error(text() << "lamina: " << file << ", offset " << offset << ": " << reason),
      file_(file),
      offset_(offset) {}

#endif  // LAMINA_DEFINES

}}  // namespace lamina
