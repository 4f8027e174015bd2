// SPDX-License-Identifier: Apache-2.0
// lamina/core/files/binary_file.hpp - reads little-endian binary files piece by piece, with the
// byte offset in every error, and writes such files through a temporary file.
//
// Unlike read_file(), a binary_reader reads parameters directly into their memory, so no copy of
// the whole file is needed.
#pragma once

#include <lamina/core/config.hpp>

#include <cerrno>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include <lamina/core/files/file.hpp>
#include <lamina/core/files/file_mapping.hpp>
#include <lamina/core/files/little_endian.hpp>
#include <lamina/core/messages/error.hpp>

namespace lamina { inline namespace LAMINA_ABI {

/// Reads a file, or bytes in memory, from the front. If bytes are missing, throws a format_error
/// that names the file, the offset and the expected contents.
class binary_reader {
 public:
  /// A function that returns the decompressed bytes of a gzip file. Errors of the function name the
  /// file `path`.
  using unpack = std::string (*)(std::string_view packed, const std::string& path);

  /// Opens a file; throws lamina::error with its name if that fails. A pipe is read to its end at
  /// once, because callers go back to earlier offsets, which a pipe cannot do. A file that begins
  /// like a gzip file is decompressed by `unpacked`; if that is null, it throws a format_error.
  LAMINA_API LAMINA_COLD explicit binary_reader(const std::string& path, unpack unpacked = nullptr);
  /// Reads from `bytes` in memory, which must outlive the reader. Errors name the file `name`.
  binary_reader(std::string_view bytes, std::string name)
      : path_(std::move(name)), bytes_(bytes.data()), size_(bytes.size()), end_(size_) {}
  binary_reader(const binary_reader&) = delete;
  binary_reader& operator=(const binary_reader&) = delete;

  const std::string& path() const { return path_; }
  std::uint64_t offset() const { return at_; }
  std::uint64_t left() const { return end_ - at_; }

  /// Continues at offset `begin`; reading more than `size` bytes from there is an error. `what`
  /// names the contents in the error.
  LAMINA_API LAMINA_COLD void window(std::uint64_t begin, std::uint64_t size,
                                     std::string_view what);

  /// Copies the next n bytes to `to`. `what` names these bytes in the error if the file ends
  /// before.
  LAMINA_API LAMINA_COLD void read(void* to, std::uint64_t n, std::string_view what);
  /// Reads the next number.
  template <class T>
  T number(std::string_view what) {
    static_assert(std::is_arithmetic_v<T>);
    T value{};
    numbers(&value, 1, what);
    return value;
  }
  /// Reads the next n numbers.
  template <class T>
  void numbers(T* to, std::uint64_t n, std::string_view what) {
    static_assert(std::is_arithmetic_v<T>);
    read(to, n * sizeof(T), what);
    detail::convert_little_endian(to, static_cast<std::size_t>(n) * sizeof(T), sizeof(T));
  }
  /// Reads the next n bytes as text.
  LAMINA_API LAMINA_COLD std::string bytes(std::uint64_t n, std::string_view what);
  /// Returns all bytes of the file; the view is valid as long as the reader. A regular file is
  /// mapped into memory, so that no copy of its bytes is made. If the system cannot map it, it is
  /// read.
  LAMINA_API LAMINA_COLD std::string_view map();
  /// Tells the system that the bytes from offset `begin` to offset `end` of map() have been read.
  void release(std::uint64_t begin, std::uint64_t end) const { mapping_.release(begin, end); }
  /// Throws a format_error for the current offset, or for a given one.
  [[noreturn]] LAMINA_API LAMINA_COLD void fail(const std::string& reason) const;
  [[noreturn]] LAMINA_API LAMINA_COLD void fail_at(std::uint64_t offset,
                                                   const std::string& reason) const;

 private:
  /// Reads the rest of the file into memory.
  LAMINA_API LAMINA_COLD void keep_all();
  LAMINA_API LAMINA_COLD void refuse_or_unpack(unpack unpacked);

  std::string path_;
  open_file file_;
  file_mapping mapping_{};                     // the contents of a file after map()
  std::string kept_{};                         // the contents of a pipe or of a decompressed file
  const char* bytes_ = nullptr;                // null: the bytes are in the file
  std::uint64_t size_ = 0, end_ = 0, at_ = 0;  // end_: end of the window
};

/// Writes a temporary file next to the target; finish() renames it to the target. Without finish()
/// the old file is unchanged. Throws lamina::error with the file's name if it cannot be written.
class binary_writer {
 public:
  LAMINA_API LAMINA_COLD explicit binary_writer(std::string path);
  binary_writer(const binary_writer&) = delete;
  binary_writer& operator=(const binary_writer&) = delete;

  LAMINA_API LAMINA_COLD void write(const void* from, std::uint64_t n);
  void write(std::string_view bytes) { write(bytes.data(), bytes.size()); }
  template <class T>
  requires std::is_arithmetic_v<T>
  void number(T value) { numbers(&value, sizeof value, sizeof value); }
  /// Writes numbers, which have `bytes` bytes together and `each` bytes each.
  void numbers(const void* from, std::uint64_t bytes, std::size_t each) {
    write(detail::little_endian_bytes(from, bytes, each).view());
  }
  /// Returns the number of bytes written so far.
  std::uint64_t offset() const { return written_; }

  /// Renames the file to its target.
  LAMINA_API LAMINA_COLD void finish();

 private:
  static constexpr std::size_t capacity = 65536;

  void flush() {
    if (!target_.write(buffer_.data(), buffer_.size())) fail();
    buffer_.clear();
  }
  [[noreturn]] LAMINA_API LAMINA_COLD void fail();

  std::string path_;
  written_file target_;
  std::string buffer_{};
  std::uint64_t written_ = 0;
};

#if LAMINA_DEFINES

binary_reader::binary_reader(const std::string& path, unpack unpacked) : path_(path), file_(path) {
  detail::system::file_status found;
  if (file_.is_open()) found = detail::system::status_of(file_.number());
  if (found.kind == detail::system::file_kind::missing)
    LAMINA_THROW error(text() << "lamina: " << path << ": cannot be opened: " << reason_of(errno));
  if (found.kind == detail::system::file_kind::folder)
    LAMINA_THROW error(text() << "lamina: " << path << ": cannot be opened: " << reason_of(EISDIR));
  if (found.kind == detail::system::file_kind::regular)
    size_ = end_ = found.size;
  else
    keep_all();
  refuse_or_unpack(unpacked);
}

void binary_reader::window(std::uint64_t begin, std::uint64_t size, std::string_view what) {
  if (begin > size_ || size > size_ - begin)
    fail(text("expected ") << size << " bytes of " << what << " from offset " << begin
                           << ", found a file of " << size_);
  if (bytes_ == nullptr && !detail::system::seek(file_.number(), begin))
    LAMINA_THROW error(text() << "lamina: " << path_ << ": cannot be read: " << reason_of(errno));
  at_ = begin;
  end_ = begin + size;
}

void binary_reader::read(void* to, std::uint64_t n, std::string_view what) {
  if (n > left())
    fail(text("expected ") << n << " bytes of " << what << ", found the end of the file after "
                           << left());
  if (n == 0) return;
  if (bytes_ != nullptr) {
    std::memcpy(to, bytes_ + at_, n);
  } else {
    const long long got = file_.read(to, n);
    if (got < 0)
      LAMINA_THROW error(text() << "lamina: " << path_ << ": cannot be read: " << reason_of(errno));
    if (static_cast<std::uint64_t>(got) != n)
      fail(text("expected ") << n << " bytes of " << what << ", found the end of the file after "
                             << got << ": the file has become shorter");
  }
  at_ += n;
}

std::string binary_reader::bytes(std::uint64_t n, std::string_view what) {
  if (n > left())
    fail(text("expected ") << n << " bytes of " << what << ", found the end of the file after "
                           << left());
  std::string all(n, '\0');
  read(all.data(), n, what);
  return all;
}

std::string_view binary_reader::map() {
  if (bytes_ == nullptr) {
    mapping_ = file_mapping(file_.number(), size_);
    if (mapping_.data() != nullptr) {
      bytes_ = mapping_.data();
    } else {
      if (!detail::system::seek(file_.number(), 0))
        LAMINA_THROW error(text() << "lamina: " << path_
                                  << ": cannot be read: " << reason_of(errno));
      keep_all();
      if (at_ > size_) fail("the file has become shorter");
    }
  }
  return {bytes_, static_cast<std::size_t>(size_)};
}

void binary_reader::fail(const std::string& reason) const { fail_at(at_, reason); }

void binary_reader::fail_at(std::uint64_t offset, const std::string& reason) const {
  LAMINA_THROW format_error(path_, offset, reason);
}

void binary_reader::keep_all() {
  if (!file_.read_all(kept_))
    LAMINA_THROW error(text() << "lamina: " << path_ << ": cannot be read: " << reason_of(errno));
  bytes_ = kept_.data();
  size_ = end_ = kept_.size();
}

void binary_reader::refuse_or_unpack(unpack unpacked) {
  constexpr std::size_t least = 18;  // bytes of a gzip header and trailer
  if (size_ < least) return;
  const std::string first = bytes(least, "the first bytes");
  window(0, size_, "the file");
  // The number with which a safetensors file begins may have the same three bytes. Such a file has
  // '{' at byte 8.
  if (!first.starts_with("\x1f\x8b\x08") || first[8] == '{') return;
  if (unpacked == nullptr)
    fail("expected a file as it was written, found one that is compressed with gzip; unpack it");
  if (bytes_ == nullptr) keep_all();
  kept_ = unpacked(kept_, path_);
  bytes_ = kept_.data();
  size_ = end_ = kept_.size();
}

binary_writer::binary_writer(std::string path) : path_(std::move(path)), target_(path_) {
  buffer_.reserve(capacity);
  if (!target_.open()) fail();
}

void binary_writer::write(const void* from, std::uint64_t n) {
  if (n == 0) return;
  written_ += n;
  if (buffer_.size() + n <= capacity) {
    buffer_.append(static_cast<const char*>(from), n);
    return;
  }
  flush();
  if (n < capacity / 2)
    buffer_.append(static_cast<const char*>(from), n);
  else if (!target_.write(from, n))
    fail();
}

void binary_writer::finish() {
  flush();
  if (!target_.keep()) fail();
}

void binary_writer::fail() {
  const int failure = errno;
  target_.drop();
  LAMINA_THROW error(text() << "lamina: " << path_
                            << ": cannot be written: " << reason_of(failure));
}

#endif  // LAMINA_DEFINES

}}  // namespace lamina
