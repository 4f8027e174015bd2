// SPDX-License-Identifier: Apache-2.0
// lamina/dataset/idx.hpp - reads IDX files, the format of MNIST.
#pragma once

#include <lamina/core/config.hpp>

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <type_traits>
#include <variant>
#include <vector>

#include <lamina/core/messages/error.hpp>
#include <lamina/dataset/byte_source.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace dataset {

/// The contents of an IDX file: an array of shape `shape`, in row-major order, of one of six
/// element types.
struct idx_array {
  std::vector<std::uint64_t> shape;
  std::variant<std::vector<std::uint8_t>, std::vector<std::int8_t>, std::vector<std::int16_t>,
               std::vector<std::int32_t>, std::vector<float>, std::vector<double>>
      values;

  std::size_t size() const {
    return std::visit([](const auto& v) { return v.size(); }, values);
  }
};

namespace detail {

inline std::string hexadecimal(std::uint64_t value) {
  std::string text = "0x";
  for (int shift = 28; shift >= 0; shift -= 4) text += "0123456789abcdef"[value >> shift & 15];
  return text;
}

// Reads an unsigned integer from big-endian bytes.
template <class Unsigned>
Unsigned big_endian(const unsigned char* bytes) {
  Unsigned value = 0;
  for (std::size_t i = 0; i < sizeof(Unsigned); ++i)
    value = static_cast<Unsigned>(value << 8 | bytes[i]);
  return value;
}

template <class T>
using bits_of = std::conditional_t<
    sizeof(T) == 1, std::uint8_t,
    std::conditional_t<sizeof(T) == 2, std::uint16_t,
                       std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>>>;

LAMINA_API std::uint32_t read_idx_word(byte_source& file, const char* what);

// Memory grows with the number of bytes that are read, so a header with a wrong, huge size does not
// make the function allocate as much.
template <class T>
std::vector<T> read_idx_values(byte_source& file, std::uint64_t count) {
  constexpr std::uint64_t chunk = 1 << 18;
  std::vector<T> values;
  std::vector<unsigned char> bytes;
  while (values.size() < count) {
    const std::size_t n = static_cast<std::size_t>((std::min)(count - values.size(), chunk));
    bytes.resize(n * sizeof(T));
    const std::size_t got = file.read(bytes.data(), bytes.size());
    if (got < bytes.size())
      throw format_error(file.path(), file.offset(),
                         "IDX: expected " + std::to_string(count) + " elements of " +
                             std::to_string(sizeof(T)) + " bytes, the file ends within element " +
                             std::to_string(values.size() + got / sizeof(T)));
    for (std::size_t i = 0; i < n; ++i)
      values.push_back(std::bit_cast<T>(big_endian<bits_of<T>>(bytes.data() + i * sizeof(T))));
  }
  unsigned char extra;
  const std::uint64_t end = file.offset();
  if (file.read(&extra, 1) != 0)
    throw format_error(file.path(), end, "IDX: expected the end of the file, found more bytes");
  return values;
}

#if LAMINA_DEFINES

std::uint32_t read_idx_word(byte_source& file, const char* what) {
  unsigned char bytes[4];
  const std::uint64_t start = file.offset();
  const std::size_t got = file.read(bytes, 4);
  if (got < 4)
    throw format_error(file.path(), file.offset(),
                       std::string("IDX: expected ") + what + " of 4 bytes at offset " +
                           std::to_string(start) + ", the file ends after " + std::to_string(got));
  return big_endian<std::uint32_t>(bytes);
}

#endif  // LAMINA_DEFINES

}  // namespace detail

/// Reads an IDX file, which may be compressed with gzip. The format is two zero bytes, the element
/// type (0x08 unsigned byte, 0x09 byte, 0x0B short, 0x0C int, 0x0D float, 0x0E double), the number
/// of dimensions, the dimensions as 32-bit numbers, and the elements; all numbers are big-endian.
/// Throws format_error with file and offset (in the decompressed bytes) for other magic bytes, a
/// file that is too short or too long, and dimensions whose product does not fit in 64 bits. Throws
/// the errors of byte_source for a damaged compressed file.
LAMINA_API idx_array read_idx(const std::string& path);

#if LAMINA_DEFINES

idx_array read_idx(const std::string& path) {
  byte_source file(path);
  const std::uint32_t magic = detail::read_idx_word(file, "the magic number");
  const std::uint32_t type = magic >> 8, dimensions = magic & 0xff;
  if (magic >> 16 != 0)
    throw format_error(path, 0,
                       "not an IDX file: expected a magic number that begins with two zero bytes, "
                       "found " +
                           detail::hexadecimal(magic));
  if (type != 0x08 && type != 0x09 && (type < 0x0b || type > 0x0e))
    throw format_error(path, 2,
                       "not an IDX file: expected the element type 8, 9 or 11 to 14, found " +
                           std::to_string(type));
  if (dimensions == 0) throw format_error(path, 3, "IDX: expected at least 1 dimension, found 0");

  idx_array array;
  const std::uint64_t width = type == 0x0e ? 8 : type >= 0x0c ? 4 : type == 0x0b ? 2 : 1;
  std::uint64_t count = 1;
  for (std::uint32_t i = 0; i < dimensions; ++i) {
    const std::uint64_t offset = file.offset();
    const std::uint64_t extent = detail::read_idx_word(file, "a dimension");
    if (extent != 0 && count > (std::numeric_limits<std::int64_t>::max)() / width / extent)
      throw format_error(path, offset,
                         "IDX: the product of the dimensions does not fit into 64 bits");
    count *= extent;
    array.shape.push_back(extent);
  }
  switch (type) {
    case 0x08:
      array.values = detail::read_idx_values<std::uint8_t>(file, count);
      break;
    case 0x09:
      array.values = detail::read_idx_values<std::int8_t>(file, count);
      break;
    case 0x0b:
      array.values = detail::read_idx_values<std::int16_t>(file, count);
      break;
    case 0x0c:
      array.values = detail::read_idx_values<std::int32_t>(file, count);
      break;
    case 0x0d:
      array.values = detail::read_idx_values<float>(file, count);
      break;
    default:
      array.values = detail::read_idx_values<double>(file, count);
      break;
  }
  return array;
}

#endif  // LAMINA_DEFINES

}}}  // namespace lamina::dataset
