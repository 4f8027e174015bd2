// SPDX-License-Identifier: Apache-2.0
// lamina/io/onnx/onnx_tensor_reader.hpp - the elements of the tensors of an ONNX file, also of
// those that lie in files beside it.
#pragma once

#include <lamina/core/config.hpp>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <lamina/core/files/binary_file.hpp>
#include <lamina/core/files/little_endian.hpp>
#include <lamina/core/files/paths.hpp>
#include <lamina/core/messages/error.hpp>
#include <lamina/core/messages/text.hpp>
#include <lamina/core/numbers/bfloat16.hpp>
#include <lamina/core/numbers/small_floats.hpp>
#include <lamina/core/system/system.hpp>
#include <lamina/io/fluid/program_message.hpp>
#include <lamina/io/onnx/onnx_model_message.hpp>
#include <lamina/tensor/tensor.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace detail {

/// Returns an element of a type without arithmetic as a float. `type` is TensorProto.DataType.
inline float widened(unsigned bits, int type) {
  const auto half = static_cast<std::uint16_t>(bits);
  const auto byte = static_cast<std::uint8_t>(bits);
  switch (type) {
    case 10:  // FLOAT16
      return float_of_float16(half);
    case 16:  // BFLOAT16
      return float_of_bfloat16(half);
    case 17:  // FLOAT8E4M3FN
      return float_of_float8_e4m3fn(byte);
    case 18:  // FLOAT8E4M3FNUZ
      return float_of_float8_e4m3fnuz(byte);
    case 19:  // FLOAT8E5M2
      return float_of_float8_e5m2(byte);
    case 20:  // FLOAT8E5M2FNUZ
      return float_of_float8_e5m2fnuz(byte);
    case 23:  // FLOAT4E2M1
      return float_of_float4_e2m1(byte);
    default:
      return float_of_float8_e8m0(byte);
  }
}

/// Reads the elements of tensors of one file.
class onnx_tensor_reader {
 public:
  /// `file` is the path of the model, with which errors begin.
  explicit onnx_tensor_reader(std::string file) : file_(std::move(file)) {}

  /// Returns a tensor. Throws format_error for elements that are too many or too few for its
  /// dimensions, of a type without a counterpart, or in a file outside of the model's folder.
  tensor read(const onnx_tensor_message& from) const {
    const std::optional<dtype> type = dtype_of_onnx(from.type);
    if (!type)
      fail(from, text("expected elements of a type of numbers, found data_type ") << from.type);
    tensor_shape shape;
    std::uint64_t n = 1;
    for (const std::int64_t extent : from.dims) {
      if (extent < 0 || extent > 0x7fffffff)
        fail(from, text("expected dimensions from 0 to 2147483647, found ") << extent);
      shape.push_back(static_cast<std::size_t>(extent));
      if (extent != 0 && n > (std::numeric_limits<std::uint32_t>::max)() * std::uint64_t{1024} /
                                 static_cast<std::uint64_t>(extent))
        fail(from,
             text("expected a number of elements below 2^42, found dimensions ").list(from.dims));
      n *= static_cast<std::uint64_t>(extent);
    }
    if (from.is_external) {
      const std::string bytes = external(from, bytes_of(n, from.type));
      return of_bytes(from, bytes, shape, n);
    }
    if (from.raw) return of_bytes(from, *from.raw, shape, n);
    return of_fields(from, shape, n);
  }

 private:
  [[noreturn]] void fail(const onnx_tensor_message& from, const std::string& what) const {
    throw format_error(file_, from.offset, "tensor '" + from.name + "': " + what);
  }

  /// Returns the number of bits of an element in raw_data.
  static int bits_of(int type) {
    switch (type) {
      case 21:
      case 22:
      case 23:
        return 4;
      case 25:
      case 26:
        return 2;
      case 2:
      case 3:
      case 9:
      case 17:
      case 18:
      case 19:
      case 20:
      case 24:
        return 8;
      case 4:
      case 5:
      case 10:
      case 16:
        return 16;
      case 7:
      case 11:
      case 13:
        return 64;
      default:
        return 32;
    }
  }
  static std::uint64_t bytes_of(std::uint64_t n, int type) {
    return (n * static_cast<std::uint64_t>(bits_of(type)) + 7) / 8;
  }

  tensor of_bytes(const onnx_tensor_message& from, std::string_view bytes,
                  const tensor_shape& shape, std::uint64_t n) const {
    const std::uint64_t wanted = bytes_of(n, from.type);
    if (bytes.size() != wanted)
      fail(from, text("expected ") << wanted << " bytes of elements, found " << bytes.size());
    const auto all = [&]<class T>(T) {
      xt::xarray<T> made = xt::xarray<T>::from_shape(shape);
      if (n != 0) std::memcpy(made.data(), bytes.data(), bytes.size());
      convert_little_endian(made.data(), bytes.size(), sizeof(T));
      return made;
    };
    const auto converted = [&]<class To, class From>(To, From) {
      xt::xarray<To> made = xt::xarray<To>::from_shape(shape);
      for (std::size_t i = 0; i < n; ++i) {
        const From x = from_little_endian<From>(bytes.data() + i * sizeof(From));
        made.flat(i) = static_cast<To>(x);
      }
      return tensor(std::move(made));
    };
    // The bits of an element of at most 16 bits; elements of less than 8 bits begin at the lower
    // end of a byte.
    const int size = bits_of(from.type);
    const auto bits = [&](std::size_t i) {
      const auto byte = [&](std::size_t at) {
        return static_cast<unsigned>(static_cast<unsigned char>(bytes[at]));
      };
      if (size == 16) return byte(2 * i) | byte(2 * i + 1) << 8;
      const std::size_t each = static_cast<std::size_t>(8 / size);
      const unsigned shift = static_cast<unsigned>(i % each) * static_cast<unsigned>(size);
      return (byte(i / each) >> shift) & ((1U << size) - 1);
    };
    switch (from.type) {
      case 1:
        return all(float{});
      case 2:
        return all(std::uint8_t{});
      case 3:
        return all(std::int8_t{});
      case 4:
        return converted(std::int32_t{}, std::uint16_t{});
      case 5:
        return all(std::int16_t{});
      case 6:
        return all(std::int32_t{});
      case 7:
        return all(std::int64_t{});
      case 9:
        return truths(shape, n, bits);
      case 11:
        return all(double{});
      case 12:
        return converted(std::int64_t{}, std::uint32_t{});
      case 13:
        return of_unsigned(from, all(std::int64_t{}));
      default:
        return of_bits(from, shape, n, bits);
    }
  }

  tensor of_fields(const onnx_tensor_message& from, const tensor_shape& shape,
                   std::uint64_t n) const {
    const bool real = from.type == 1, wide = from.type == 11;
    // Elements of less than 8 bits are packed into bytes, one byte in each number.
    const int size = bits_of(from.type);
    const std::uint64_t each = size < 8 ? static_cast<std::uint64_t>(8 / size) : 1;
    const std::uint64_t wanted = (n + each - 1) / each;
    const std::uint64_t found = real   ? from.floats.size()
                                : wide ? from.doubles.size()
                                       : from.integers.size();
    if (found != wanted) fail(from, text("expected ") << wanted << " elements, found " << found);
    if (real) return tensor(shape, from.floats);
    if (wide) return tensor(shape, from.doubles);
    const auto bits = [&](std::size_t i) {
      const auto number = static_cast<std::uint64_t>(from.integers[i / each]);
      const unsigned shift = static_cast<unsigned>(i % each) * static_cast<unsigned>(size);
      return static_cast<unsigned>(size >= 16 ? number & 0xffff
                                              : (number >> shift) & ((1U << size) - 1));
    };
    const auto type = static_cast<dtype>(*dtype_of_onnx(from.type));
    if (type == dtype::boolean) return truths(shape, n, bits);
    if (type == dtype::float32 || size < 8) return of_bits(from, shape, n, bits);
    const tensor whole(shape, from.integers);
    if (from.type == 13) return of_unsigned(from, whole.template as<std::int64_t>());
    return whole.wrapped(type);
  }

  template <class Bits>
  static tensor truths(const tensor_shape& shape, std::uint64_t n, Bits bits) {
    xt::xarray<bool> made = xt::xarray<bool>::from_shape(shape);
    for (std::size_t i = 0; i < n; ++i) made.flat(i) = bits(i) != 0;
    return tensor(std::move(made));
  }
  template <class Bits>
  static tensor of_bits(const onnx_tensor_message& from, const tensor_shape& shape, std::uint64_t n,
                        Bits bits) {
    if (dtype_of_onnx(from.type) == dtype::float32) {
      xt::xarray<float> made = xt::xarray<float>::from_shape(shape);
      for (std::size_t i = 0; i < n; ++i) made.flat(i) = widened(bits(i), from.type);
      return tensor(std::move(made));
    }
    const bool is_signed = from.type == 22 || from.type == 26;
    const int size = bits_of(from.type), limit = 1 << (size - 1);
    xt::xarray<std::int8_t> made = xt::xarray<std::int8_t>::from_shape(shape);
    for (std::size_t i = 0; i < n; ++i) {
      const int x = static_cast<int>(bits(i));
      made.flat(i) = static_cast<std::int8_t>(is_signed && x >= limit ? x - 2 * limit : x);
    }
    return is_signed ? tensor(std::move(made)) : tensor(std::move(made)).cast(dtype::uint8);
  }
  tensor of_unsigned(const onnx_tensor_message& from, const xt::xarray<std::int64_t>& bits) const {
    for (std::size_t i = 0; i < bits.size(); ++i)
      if (bits.flat(i) < 0)
        fail(from, text("expected elements of UINT64 below 2^63, found ")
                       << static_cast<std::uint64_t>(bits.flat(i)));
    return tensor(bits);
  }

  // Reads elements from a file beside the model.
  std::string external(const onnx_tensor_message& from, std::uint64_t wanted) const {
    std::string location;
    std::uint64_t begin = 0, size = wanted;
    for (const auto& [key, value] : from.external) {
      if (key == "location") location = value;
      std::uint64_t* to = key == "offset" ? &begin : key == "length" ? &size : nullptr;
      if (to != nullptr && !read_number(value, *to))
        fail(from, "expected a number as " + key + " of external data, found '" + value + "'");
    }
    if (size != wanted)
      fail(from, text("expected external data of ") << wanted << " bytes, found " << size);
    const std::string path = inside_folder(from, location);
    try {
      binary_reader data(path);
      data.window(begin, size, "tensor '" + from.name + "'");
      return data.bytes(size, "tensor '" + from.name + "'");
    } catch (const format_error&) {
      throw;
    } catch (const error& e) {
      fail(from, text("expected external data in '") << location << "', found: " << e.what());
    }
  }

  // Returns the path of a file in the model's folder. Throws format_error for a location that leads
  // out of it, also through a symbolic link.
  std::string inside_folder(const onnx_tensor_message& from, const std::string& location) const {
    const auto refuse = [&] {
      fail(from,
           "expected external data in the model's folder, found the location '" + location + "'");
    };
    if (!is_inner_path(location)) refuse();
    const std::string folder = folder_of(file_), path = folder + location;
    const std::string outer = resolved(folder.empty() ? "." : folder), inner = resolved(path);
    if (inner.empty())
      fail(from, "expected external data in '" + location + "', found no such file");
    const std::string prefix = outer.ends_with('/') ? outer : outer + "/";
    if (inner.compare(0, prefix.size(), prefix) != 0) refuse();
    return path;
  }
  static std::string resolved(const std::string& path) { return system::resolved_path(path); }

  std::string file_;
};

}}}  // namespace lamina::detail
