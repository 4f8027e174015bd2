// SPDX-License-Identifier: Apache-2.0
// lamina/dataset/mat_file.hpp - reads matrices of numbers from files of MATLAB 5 to 7.
#pragma once

#include <lamina/core/config.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <lamina/core/files/file.hpp>
#include <lamina/core/files/little_endian.hpp>
#include <lamina/core/messages/error.hpp>
#include <lamina/core/messages/text.hpp>
#include <lamina/io/archive/gzip.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace dataset {

/// A matrix of numbers and its name.
struct mat_matrix {
  std::string name;
  std::vector<std::int64_t> shape;
  std::vector<double> values;  ///< column-major
};

/// The matrices of real numbers in a MAT file (MATLAB 5, compressed or not). Variables of other
/// kinds, such as texts and cells, are skipped. Source: "MAT-File Format", MathWorks.
class mat_file {
 public:
  /// Reads a file. Throws lamina::error with the name of the file if it cannot be opened. Throws
  /// format_error if the file is damaged, has another version or is not little-endian.
  LAMINA_COLD explicit mat_file(const std::string& path) : mat_file(path, read_file(path)) {}
  /// Reads the contents of a file from memory; `path` is its name for errors.
  LAMINA_API LAMINA_COLD mat_file(std::string path, std::string_view bytes);

  const std::vector<mat_matrix>& matrices() const { return matrices_; }
  /// Returns the matrix with this name. Throws format_error if there is none.
  LAMINA_COLD const mat_matrix& at(std::string_view name) const {
    for (const mat_matrix& m : matrices_)
      if (m.name == name) return m;
    fail(0, lamina::text("expected a matrix '") << name << "', found none");
  }

 private:
  enum : std::uint32_t {
    of_int8 = 1,
    of_uint8,
    of_int16,
    of_uint16,
    of_int32,
    of_uint32,
    of_float = 7,
    of_double = 9,
    of_int64 = 12,
    of_uint64,
    of_matrix,
    of_compressed
  };
  /// An element of the file: its type, its bytes, and their offset for errors.
  struct element {
    std::uint32_t type;
    std::string_view bytes;
    // Offset in the file; within compressed data, the offset of the compressed element.
    std::uint64_t offset;
    bool packed;
  };

  [[noreturn]] LAMINA_COLD void fail(std::uint64_t offset, const std::string& reason) const {
    throw format_error(path_, offset, "MAT file: " + reason);
  }
  static std::uint32_t word_at(std::string_view bytes, std::size_t at) {
    return lamina::detail::from_little_endian<std::uint32_t>(bytes.data() + at);
  }

  /// Calls `visit(element)` for each element of `bytes` from position `at` on. `base` is the offset
  /// of bytes[0] in the file or, if `packed`, the offset of the compressed element that contains
  /// `bytes`.
  template <class Visit>
  void walk(std::string_view bytes, std::size_t at, std::uint64_t base, Visit visit,
            bool packed = false) const {
    while (at < bytes.size()) {
      const std::uint64_t offset = packed ? base : base + at;
      if (bytes.size() - at < 8)
        fail(offset, lamina::text("expected the 8 bytes that begin an element, found ")
                         << bytes.size() - at);
      std::uint32_t type = word_at(bytes, at), size = word_at(bytes, at + 4);
      std::size_t begin = at + 8;
      if (type >> 16 != 0) size = type >> 16, type &= 0xffff, begin = at + 4;  // a small element
      const std::size_t room = begin == at + 4 ? 4 : bytes.size() - begin;
      if (size > room)
        fail(offset, lamina::text("expected at most ")
                         << room << " bytes of an element, found " << size);
      visit(element{type, bytes.substr(begin, size), packed ? base : base + begin, packed});
      at = begin + size;
      if (type != of_compressed) at = (at + 7) / 8 * 8;  // compressed elements are not padded
    }
  }

  LAMINA_API void read_variable(const element& e);

  LAMINA_API void read_matrix(const element& whole);
  LAMINA_API std::vector<std::int64_t> shape_of(const element& e) const;
  LAMINA_API void read_numbers(const element& e, std::uint64_t count,
                               std::vector<double>& to) const;
  template <class T>
  void convert(const element& e, std::uint64_t count, std::vector<double>& to) const {
    if (e.bytes.size() % sizeof(T) != 0 || e.bytes.size() / sizeof(T) != count)
      fail(e.offset, lamina::text("expected ") << count << " numbers of " << sizeof(T)
                                               << " bytes, found " << e.bytes.size() << " bytes");
    to.reserve(count);
    for (std::size_t i = 0; i < e.bytes.size(); i += sizeof(T))
      to.push_back(static_cast<double>(lamina::detail::from_little_endian<T>(e.bytes.data() + i)));
  }

  std::string path_;
  std::vector<mat_matrix> matrices_;
};

#if LAMINA_DEFINES

mat_file::mat_file(std::string path, std::string_view bytes) : path_(std::move(path)) {
  if (bytes.size() < 128)
    fail(0, lamina::text("expected a header of 128 bytes, found ") << bytes.size());
  if (bytes.substr(124, 4) != std::string_view("\0\1IM", 4))
    fail(124, "expected a little-endian file of MATLAB 5, found another version");
  walk(bytes, 128, 0, [this](const element& e) { read_variable(e); });
}

void mat_file::read_variable(const element& e) {
  if (e.type == of_matrix) return read_matrix(e);
  if (e.type != of_compressed || e.packed)
    fail(e.offset, lamina::text("expected a matrix, found an element of type ") << e.type);
#if LAMINA_HAS_ZLIB
  std::string plain;
  try {
    plain = lamina::detail::unpack_streams(e.bytes, path_, MAX_WBITS);
  } catch (const format_error& damaged) {
    const std::string reason = damaged.what();
    fail(e.offset + damaged.offset(), reason.substr(reason.find(": ", 8 + path_.size()) + 2));
  }
  walk(
      plain, 0, e.offset, [this](const element& inner) { read_variable(inner); }, true);
#else
  fail(e.offset,
       "the file is compressed, and this program was built without zlib; build with "
       "LAMINA_HAS_ZLIB=1");
#endif
}

void mat_file::read_matrix(const element& whole) {
  std::vector<element> parts;
  walk(
      whole.bytes, 0, whole.offset, [&](const element& e) { parts.push_back(e); }, whole.packed);
  if (parts.size() < 3 || parts[0].type != of_uint32 || parts[0].bytes.size() != 8)
    fail(whole.offset, "expected the kind, the shape and the name of a matrix, found others");
  const std::uint32_t kind = word_at(parts[0].bytes, 0);
  constexpr std::uint32_t has_imaginary = 0x800;
  if ((kind & 0xff) < 6 || (kind & 0xff) > 15 || (kind & has_imaginary) != 0) return;
  mat_matrix m{std::string(parts[2].bytes), shape_of(parts[1]), {}};
  std::uint64_t size = 1;
  for (const std::int64_t n : m.shape) {
    if (n != 0 && size > UINT64_MAX / 8 / static_cast<std::uint64_t>(n))
      fail(parts[1].offset, "expected a matrix that fits into memory, found a larger one");
    size *= static_cast<std::uint64_t>(n);
  }
  if (parts.size() < 4) fail(whole.offset, "expected the numbers of a matrix, found none");
  read_numbers(parts[3], size, m.values);
  matrices_.push_back(std::move(m));
}

std::vector<std::int64_t> mat_file::shape_of(const element& e) const {
  if (e.type != of_int32 || e.bytes.size() % 4 != 0 || e.bytes.size() < 8)
    fail(e.offset, "expected the shape of a matrix, two numbers or more, found another element");
  std::vector<std::int64_t> shape;
  for (std::size_t i = 0; i < e.bytes.size(); i += 4) {
    const auto n = static_cast<std::int32_t>(word_at(e.bytes, i));
    if (n < 0) fail(e.offset, lamina::text("expected sizes of at least 0, found ") << n);
    shape.push_back(n);
  }
  return shape;
}

void mat_file::read_numbers(const element& e, std::uint64_t count, std::vector<double>& to) const {
  switch (e.type) {
    case of_int8:
      return convert<std::int8_t>(e, count, to);
    case of_uint8:
      return convert<std::uint8_t>(e, count, to);
    case of_int16:
      return convert<std::int16_t>(e, count, to);
    case of_uint16:
      return convert<std::uint16_t>(e, count, to);
    case of_int32:
      return convert<std::int32_t>(e, count, to);
    case of_uint32:
      return convert<std::uint32_t>(e, count, to);
    case of_float:
      return convert<float>(e, count, to);
    case of_double:
      return convert<double>(e, count, to);
    case of_int64:
      return convert<std::int64_t>(e, count, to);
    case of_uint64:
      return convert<std::uint64_t>(e, count, to);
    default:
      fail(e.offset, lamina::text("expected numbers, found an element of type ") << e.type);
  }
}

#endif  // LAMINA_DEFINES

}}}  // namespace lamina::dataset
