// SPDX-License-Identifier: Apache-2.0
// lamina/core/binary_file.hpp - files of numbers, little-endian: read piece by piece with the place
// of every error, and written beside their place.
//
// Why not read_file(): a file of parameters goes straight into their memory, without a copy.
#pragma once

#include <bit>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include <sys/stat.h>

#include <lamina/core/config.hpp>
#include <lamina/core/error.hpp>
#include <lamina/core/file.hpp>

namespace lamina {

static_assert(std::endian::native == std::endian::little,
              "lamina: files of parameters are little-endian, and so must the machine be");

/// Reads a file, or bytes in memory, from the front. What is not there is a format_error that names
/// the file, the offset and what was expected.
class binary_reader {
 public:
  /// Opens a file; throws lamina::error naming it when that fails.
  LAMINA_COLD explicit binary_reader(const std::string& path) : path_(path) {
    file_ = std::fopen(path.c_str(), "rb");
    struct stat about {};
    if (file_ == nullptr || ::fstat(::fileno(file_), &about) != 0 || !S_ISREG(about.st_mode)) {
      const int failure = file_ == nullptr ? errno : EISDIR;
      if (file_ != nullptr) std::fclose(file_);
      throw error(text() << "lamina: " << path << ": cannot be opened: " << reason_of(failure));
    }
    std::setvbuf(file_, nullptr, _IONBF, 0);  // nothing but headers is small
    size_ = end_ = static_cast<std::uint64_t>(about.st_size);
  }
  /// Reads `bytes`, which errors call `name`.
  binary_reader(std::string_view bytes, std::string name)
      : path_(std::move(name)), bytes_(bytes.data()), size_(bytes.size()), end_(size_) {}
  binary_reader(const binary_reader&) = delete;
  binary_reader& operator=(const binary_reader&) = delete;
  ~binary_reader() {
    if (file_ != nullptr) std::fclose(file_);
  }

  const std::string& path() const { return path_; }
  std::uint64_t offset() const { return at_; }
  std::uint64_t left() const { return end_ - at_; }

  /// Goes on at another place, and no further than `size` bytes from there.
  LAMINA_COLD void window(std::uint64_t begin, std::uint64_t size, std::string_view what) {
    if (begin > size_ || size > size_ - begin)
      fail(text("expected ") << size << " bytes of " << what << " from offset " << begin
                             << ", found a file of " << size_);
    if (file_ != nullptr && ::fseeko(file_, static_cast<off_t>(begin), SEEK_SET) != 0)
      throw error(text() << "lamina: " << path_ << ": cannot be read: " << reason_of(errno));
    at_ = begin;
    end_ = begin + size;
  }

  /// Copies the next n bytes.
  LAMINA_COLD void read(void* to, std::uint64_t n, std::string_view what) {
    if (n > left())
      fail(text("expected ") << n << " bytes of " << what << ", found the end of the file after "
                             << left());
    if (n == 0) return;
    if (file_ == nullptr) {
      std::memcpy(to, bytes_ + at_, n);
    } else if (std::fread(to, 1, n, file_) != n) {
      throw error(text() << "lamina: " << path_ << ": cannot be read: " << reason_of(errno));
    }
    at_ += n;
  }
  /// The next number.
  template <class T>
  T number(std::string_view what) {
    static_assert(std::is_arithmetic_v<T>);
    T value{};
    read(&value, sizeof value, what);
    return value;
  }
  /// The next n bytes as text.
  LAMINA_COLD std::string bytes(std::uint64_t n, std::string_view what) {
    if (n > left())
      fail(text("expected ") << n << " bytes of " << what << ", found the end of the file after "
                             << left());
    std::string all(n, '\0');
    read(all.data(), n, what);
    return all;
  }
  /// Throws format_error at the present place, or at one before.
  [[noreturn]] LAMINA_COLD void fail(const std::string& reason) const { fail_at(at_, reason); }
  [[noreturn]] LAMINA_COLD void fail_at(std::uint64_t offset, const std::string& reason) const {
    throw format_error(path_, offset, reason);
  }

 private:
  std::string path_;
  std::FILE* file_ = nullptr;
  const char* bytes_ = nullptr;
  std::uint64_t size_ = 0, end_ = 0, at_ = 0;  // end_: of the window
};

/// Writes a file beside its place; finish() puts it there. Without finish() the old file stays.
/// Throws lamina::error naming the file when it cannot be written.
class binary_writer {
 public:
  LAMINA_COLD explicit binary_writer(std::string path)
      : path_(std::move(path)), place_(path_), file_(place_.open()) {
    if (file_ == nullptr) fail(errno);
  }
  binary_writer(const binary_writer&) = delete;
  binary_writer& operator=(const binary_writer&) = delete;
  ~binary_writer() {
    if (file_ == nullptr) return;
    std::fclose(file_);
    place_.drop();
  }

  LAMINA_COLD void write(const void* from, std::uint64_t n) {
    if (n != 0 && std::fwrite(from, 1, n, file_) != n) fail(errno);
    written_ += n;
  }
  void write(std::string_view bytes) { write(bytes.data(), bytes.size()); }
  template <class T>
  requires std::is_arithmetic_v<T>
  void number(T value) { write(&value, sizeof value); }
  /// How many bytes were written.
  std::uint64_t offset() const { return written_; }

  /// Puts the file in its place.
  LAMINA_COLD void finish() {
    std::FILE* file = std::exchange(file_, nullptr);
    if (std::fclose(file) != 0 || !place_.keep()) {
      const int failure = errno;
      place_.drop();
      fail(failure);
    }
  }

 private:
  [[noreturn]] LAMINA_COLD void fail(int failure) const {
    throw error(text() << "lamina: " << path_ << ": cannot be written: " << reason_of(failure));
  }

  std::string path_;
  written_place place_;
  std::FILE* file_;
  std::uint64_t written_ = 0;
};

}  // namespace lamina
