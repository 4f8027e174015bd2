// SPDX-License-Identifier: Apache-2.0
// lamina/io/arrays/tensor_bytes.hpp - reads and writes the elements of a tensor as the bytes of
// a file.
#pragma once

#include <lamina/core/config.hpp>

#include <cstdint>
#include <limits>
#include <string_view>
#include <utility>
#include <vector>

#include <lamina/core/files/binary_file.hpp>
#include <lamina/tensor/tensor.hpp>

namespace lamina { inline namespace LAMINA_ABI {

namespace detail {

template <class T>
tensor read_elements_as(binary_reader& from, const tensor_shape& shape, std::string_view what,
                        bool are_big_endian) {
  xt::xarray<T> values = xt::xarray<T>::from_shape(shape);
  if constexpr (__is_same(T, bool)) {
    // Every nonzero byte means true. A byte other than 0 and 1 in a bool would be undefined
    // behaviour, so the bytes are converted.
    std::vector<unsigned char> bytes(values.size());
    from.read(bytes.data(), bytes.size(), what);
    for (std::size_t i = 0; i < bytes.size(); ++i) values.flat(i) = bytes[i] != 0;
  } else {
    from.numbers(values.data(), values.size(), what);
    if (are_big_endian) reverse_each(values.data(), values.size() * sizeof(T), sizeof(T));
  }
  return tensor(std::move(values));
}

}  // namespace detail

/// Throws format_error unless a tensor can have these dimensions: each below 2^32, and strides
/// below 2^62. An array without elements needs no memory, but its strides must not overflow either.
inline void check_dimensions(const binary_reader& from, const std::vector<std::uint64_t>& dims,
                             std::string_view what) {
  std::uint64_t strides = 1;
  for (const std::uint64_t d : dims) {
    if (d > (std::numeric_limits<std::uint32_t>::max)())
      from.fail(text("expected dimensions of 32 bits in ") << what << ", found " << d);
    if (d != 0 && strides > (std::uint64_t{1} << 62) / d)
      from.fail(text("expected strides below 2^62 in ")
                << what << ", found the shape " << text().list(dims));
    strides *= d == 0 ? 1 : d;
  }
}

/// Writes the elements of a tensor, row by row.
inline void write_elements(binary_writer& to, const tensor& value) {
  const auto each = static_cast<std::size_t>(size_of(value.type()));
  to.numbers(value.data(), value.size() * std::uint64_t{each}, each);
}

/// Reads the elements of a tensor with shape `dims`, row by row. They are little-endian unless
/// `are_big_endian`. Before it allocates memory, the
/// function checks that the file contains as many bytes as the type and the shape require. Throws
/// format_error if the file contains fewer bytes, and for float16.
inline tensor read_elements(binary_reader& from, dtype type, const std::vector<std::uint64_t>& dims,
                            std::string_view what, bool are_big_endian = false) {
  std::uint64_t size = static_cast<std::uint64_t>(size_of(type));
  bool empty = false;
  for (const std::uint64_t d : dims) empty = empty || d == 0;
  for (const std::uint64_t d : dims) {
    if (!empty && size > from.left() / d)
      from.fail(text("expected at most ")
                << from.left() << " bytes of " << what << ", found the shape " << text().list(dims)
                << " of " << name_of(type));
    size *= d;
  }
  check_dimensions(from, dims, what);
  const tensor_shape shape(dims.begin(), dims.end());
  switch (type) {
    case dtype::boolean:
      return detail::read_elements_as<bool>(from, shape, what, are_big_endian);
    case dtype::int16:
      return detail::read_elements_as<std::int16_t>(from, shape, what, are_big_endian);
    case dtype::int32:
      return detail::read_elements_as<std::int32_t>(from, shape, what, are_big_endian);
    case dtype::int64:
      return detail::read_elements_as<std::int64_t>(from, shape, what, are_big_endian);
    case dtype::float32:
      return detail::read_elements_as<float>(from, shape, what, are_big_endian);
    case dtype::float64:
      return detail::read_elements_as<double>(from, shape, what, are_big_endian);
    case dtype::uint8:
      return detail::read_elements_as<std::uint8_t>(from, shape, what, are_big_endian);
    case dtype::int8:
      return detail::read_elements_as<std::int8_t>(from, shape, what, are_big_endian);
    default:
      from.fail(text("expected elements with arithmetic in ") << what << ", found float16");
  }
}

}}  // namespace lamina
