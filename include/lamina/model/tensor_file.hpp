// SPDX-License-Identifier: Apache-2.0
// lamina/model/tensor_file.hpp - named arrays in a file: models and checkpoints.
//
// Format, little-endian: "LAMINA\0\1", u64 number of entries; each entry: u64 length and bytes of
// the name, u64 dtype, u64 rank, u64 dims[rank], u64 length and bytes of the data; at the end u64
// FNV-1a of everything before it. A file is written beside its place and renamed, so that a reader
// never sees half of one, and read whole and checked before anything is changed.
#pragma once

#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <lamina/core/config.hpp>
#include <lamina/core/dtype.hpp>
#include <lamina/core/error.hpp>
#include <lamina/core/file.hpp>
#include <lamina/core/text.hpp>

namespace lamina {

/// A named array.
struct tensor_entry {
  std::string name;
  dtype type = dtype::float32;
  std::vector<std::uint64_t> dims;
  std::string bytes;

  /// An entry of one number or of text.
  static tensor_entry number(std::string name, std::uint64_t value) {
    tensor_entry e{std::move(name), dtype::int64, {1}, std::string(8, '\0')};
    std::memcpy(e.bytes.data(), &value, 8);
    return e;
  }
  std::uint64_t as_number() const {
    std::uint64_t value = 0;
    if (bytes.size() == 8) std::memcpy(&value, bytes.data(), 8);
    return value;
  }
};

namespace detail {

inline constexpr std::string_view tensor_file_magic{"LAMINA\0\1", 8};

LAMINA_COLD inline std::uint64_t checksum(std::string_view bytes) {
  std::uint64_t h = 14695981039346656037ull;
  for (const char c : bytes) h = (h ^ static_cast<unsigned char>(c)) * 1099511628211ull;
  return h;
}
LAMINA_COLD inline void put_number(std::string& to, std::uint64_t value) {
  for (int i = 0; i < 8; ++i) to.push_back(static_cast<char>(value >> (8 * i)));
}

/// Reads what put_number wrote; every step is checked against the end of the file.
class tensor_file_reader {
 public:
  tensor_file_reader(std::string path, std::string bytes)
      : path_(std::move(path)), bytes_(std::move(bytes)) {}

  LAMINA_COLD std::vector<tensor_entry> read() {
    if (bytes_.size() < 24) fail(text() << "expected at least 24 bytes, found " << bytes_.size());
    if (std::string_view(bytes_).substr(0, 8) != tensor_file_magic)
      fail("expected a lamina file of version 1, found other first bytes");
    const std::size_t end = bytes_.size() - 8;
    at_ = end;
    limit_ = bytes_.size();
    const std::uint64_t stored = number("checksum");
    if (stored != checksum(std::string_view(bytes_).substr(0, end))) {
      at_ = end;
      fail("the checksum does not match: the file is damaged or cut short");
    }
    at_ = 8;
    limit_ = end;
    const std::uint64_t count = number("number of entries");
    std::vector<tensor_entry> entries;
    for (std::uint64_t i = 0; i < count; ++i) {
      tensor_entry& e = entries.emplace_back();
      e.name = content("name");
      const std::uint64_t type = number("dtype");
      e.type = static_cast<dtype>(type);
      if (type > 6 && type != 20 && type != 21) fail(text() << "expected a dtype, found " << type);
      const std::uint64_t rank = number("rank");
      if (rank > 16) fail(text() << "expected a rank of at most 16, found " << rank);
      std::uint64_t size = static_cast<std::uint64_t>(size_of(e.type));
      for (std::uint64_t d = 0; d < rank; ++d) {
        e.dims.push_back(number("dimension"));
        if (e.dims.back() != 0 && size > (std::uint64_t{1} << 48) / e.dims.back())
          fail("dimensions are too large");
        size *= e.dims.back();
      }
      e.bytes = content("data");
      if (e.bytes.size() != size)
        fail(text() << "'" << e.name << "': expected " << size << " bytes of data, found "
                    << e.bytes.size());
    }
    if (at_ != limit_) fail("expected the end of the file, found further bytes");
    return entries;
  }

 private:
  [[noreturn]] LAMINA_COLD void fail(const std::string& reason) const {
    throw format_error(path_, at_, reason);
  }
  LAMINA_COLD std::uint64_t number(const char* what) {
    if (limit_ - at_ < 8) fail(text("the file ends within a ") << what);
    std::uint64_t value = 0;
    for (std::size_t i = 0; i < 8; ++i)
      value |= static_cast<std::uint64_t>(static_cast<unsigned char>(bytes_[at_ + i])) << (8 * i);
    at_ += 8;
    return value;
  }
  LAMINA_COLD std::string content(const char* what) {
    const std::uint64_t n = number(what);
    if (n > limit_ - at_) fail(text("the file ends within a ") << what);
    std::string s = bytes_.substr(at_, n);
    at_ += n;
    return s;
  }

  std::string path_, bytes_;
  std::size_t at_ = 0, limit_ = 0;
};

}  // namespace detail

/// Writes entries to a file; the old file stays whole until the new one is complete.
/// Throws lamina::error naming the path when it cannot be written.
LAMINA_COLD inline void write_tensor_file(const file_path& path,
                                          const std::vector<tensor_entry>& entries) {
  std::string bytes(detail::tensor_file_magic);
  detail::put_number(bytes, entries.size());
  for (const tensor_entry& e : entries) {
    detail::put_number(bytes, e.name.size());
    bytes += e.name;
    detail::put_number(bytes, static_cast<std::uint64_t>(e.type));
    detail::put_number(bytes, e.dims.size());
    for (const std::uint64_t d : e.dims) detail::put_number(bytes, d);
    detail::put_number(bytes, e.bytes.size());
    bytes += e.bytes;
  }
  detail::put_number(bytes, detail::checksum(bytes));
  write_file(path.string(), bytes);
}

/// Reads a file that write_tensor_file wrote. Throws format_error with file, offset and reason for
/// a damaged or foreign one, lamina::error when there is none.
LAMINA_COLD inline std::vector<tensor_entry> read_tensor_file(const file_path& path) {
  return detail::tensor_file_reader(path.string(), read_file(path.string())).read();
}

}  // namespace lamina
