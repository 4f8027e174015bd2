// SPDX-License-Identifier: Apache-2.0
// lamina/io/arrays/safetensors_elements.hpp - converts the elements of a safetensors file to
// tensors and to the elements of parameters.
#pragma once

#include <lamina/core/config.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include <lamina/core/dtype.hpp>
#include <lamina/core/files/binary_file.hpp>
#include <lamina/core/messages/text.hpp>
#include <lamina/core/numbers/bfloat16.hpp>
#include <lamina/core/numbers/small_floats.hpp>
#include <lamina/io/arrays/safetensors_header.hpp>
#include <lamina/io/arrays/tensor_bytes.hpp>
#include <lamina/tensor/tensor.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace detail {

/// Converts `count` elements, which may be unaligned, to numbers of type To.
template <class To>
void convert_elements(const char* from, std::size_t count, const safetensors_type& type, To* to) {
  const auto each = [&]<class From, class F>(From, F f) {
    for (std::size_t i = 0; i < count; ++i) {
      const From x = from_little_endian<From>(from + i * sizeof(From));
      to[i] = static_cast<To>(f(x));
    }
  };
  const auto same = [](auto x) { return x; };
  switch (type.stored) {
    case stored_as::float16:
      return each(std::uint16_t{}, float_of_float16);
    case stored_as::bfloat16:
      return each(std::uint16_t{}, float_of_bfloat16);
    case stored_as::float8_e4m3fn:
      return each(std::uint8_t{}, float_of_float8_e4m3fn);
    case stored_as::float8_e5m2:
      return each(std::uint8_t{}, float_of_float8_e5m2);
    case stored_as::float8_e4m3fnuz:
      return each(std::uint8_t{}, float_of_float8_e4m3fnuz);
    case stored_as::float8_e5m2fnuz:
      return each(std::uint8_t{}, float_of_float8_e5m2fnuz);
    case stored_as::float8_e8m0:
      return each(std::uint8_t{}, float_of_float8_e8m0);
    case stored_as::uint16:
      return each(std::uint16_t{}, same);
    case stored_as::uint32:
      return each(std::uint32_t{}, same);
    case stored_as::uint64:
      return each(std::uint64_t{}, same);
    default:
      break;
  }
  switch (type.type) {
    case dtype::int8:
      return each(std::int8_t{}, same);
    case dtype::uint8:
      return each(std::uint8_t{}, same);
    case dtype::int16:
      return each(std::int16_t{}, same);
    case dtype::int32:
      return each(std::int32_t{}, same);
    case dtype::int64:
      return each(std::int64_t{}, same);
    case dtype::float64:
      return each(double{}, same);
    default:
      return each(float{}, same);
  }
}

/// Whether a parameter of type `real` (float32 or float64) represents every number of a type of
/// the file.
inline bool widens_to(const safetensors_type& type, dtype real) {
  const bool wide = real == dtype::float64;
  switch (type.stored) {
    case stored_as::unsupported:
    case stored_as::uint64:
      return false;
    case stored_as::uint32:
      return wide;
    case stored_as::itself:
      switch (type.type) {
        case dtype::boolean:
        case dtype::int64:
          return false;
        case dtype::int32:
        case dtype::float64:
          return wide;
        default:
          return true;
      }
    default:
      return true;
  }
}

/// Throws format_error for a value that no tensor can represent.
inline void check_supported(const binary_reader& from, const safetensors_entry& e) {
  if (!e.is_supported()) {
    text words;
    for (const safetensors_type& t : safetensors_types)
      if (t.stored != stored_as::unsupported) words << " " << t.word;
    from.fail_at(e.begin, text("expected one of the dtypes")
                              << words << " for '" << e.name << "', found '" << e.word << "'");
  }
  if (e.dims.size() > 16)
    from.fail_at(e.begin, text("expected a shape of at most 16 dimensions for '")
                              << e.name << "', found " << e.dims.size());
}

/// Reads a value as a tensor. Numbers of types that lamina does not have are widened: small floats
/// to float32, uint16 to int32, uint32 and uint64 to int64. Throws format_error for a number beyond
/// int64.
inline tensor read_safetensors_value(binary_reader& from, const safetensors_entry& e) {
  check_supported(from, e);
  const std::string what = "'" + e.name + "'";
  from.window(e.begin, e.end - e.begin, what);
  if (e.type->stored == stored_as::itself) return read_elements(from, e.type->type, e.dims, what);
  check_dimensions(from, e.dims, what);
  tensor made = tensor::zeros(e.type->type, tensor_shape(e.dims.begin(), e.dims.end()));
  const std::size_t element = e.type->bits / 8;
  const auto fill = [&]<class T>(xt::xarray<T>& to) {
    char piece[8192];
    for (std::size_t i = 0; i < to.size();) {
      const std::size_t n = (std::min)(to.size() - i, sizeof piece / element);
      from.read(piece, n * element, what);
      convert_elements(piece, n, *e.type, to.data() + i);
      i += n;
    }
  };
  switch (e.type->type) {
    case dtype::int32:
      fill(made.as<std::int32_t>());
      break;
    case dtype::int64:
      fill(made.as<std::int64_t>());
      break;
    default:
      fill(made.as<float>());
      break;
  }
  if (e.type->stored == stored_as::uint64) {
    const xt::xarray<std::int64_t>& all = made.as<std::int64_t>();
    for (std::size_t i = 0; i < all.size(); ++i)
      if (all.data()[i] < 0)
        from.fail_at(e.begin + 8 * i, text("expected numbers below 2^63 in ")
                                          << what << ", found "
                                          << static_cast<std::uint64_t>(all.data()[i]));
  }
  return made;
}

/// The number of rows of the file that transpose_elements converts per step: so many elements of
/// the result are adjacent.
inline constexpr std::size_t transposed_rows = 16;

/// Writes the transpose of a matrix of the file, row by row, to `to`: rows x columns of the result.
/// `block` is memory for transposed_rows * rows numbers.
template <class Real>
void transpose_elements(const char* from, const safetensors_type& type, std::size_t rows,
                        std::size_t columns, Real* to, Real* block) {
  const std::size_t row_bytes = rows * (type.bits / 8);
  for (std::size_t c = 0; c < columns; c += transposed_rows) {
    const std::size_t n = (std::min)(transposed_rows, columns - c);
    convert_elements(from + c * row_bytes, n * rows, type, block);
    for (std::size_t r = 0; r < rows; ++r)
      for (std::size_t k = 0; k < n; ++k) to[r * columns + c + k] = block[k * rows + r];
  }
}

}}}  // namespace lamina::detail
