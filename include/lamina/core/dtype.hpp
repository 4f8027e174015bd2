// SPDX-License-Identifier: Apache-2.0
// lamina/core/dtype.hpp - element types, numbered as Fluid's VarType.Type.
#pragma once

#include <lamina/core/config.hpp>

#include <cstdint>

namespace lamina { inline namespace LAMINA_ABI {

/// The element type of a variable; the numbers are those of Fluid's framework.proto.
enum class dtype : std::uint8_t {
  boolean = 0,
  int16 = 1,
  int32 = 2,
  int64 = 3,
  float16 = 4,
  float32 = 5,
  float64 = 6,
  uint8 = 20,
  int8 = 21
};

namespace detail {
template <class T>
inline constexpr bool is_element = __is_same(T, bool) || __is_same(T, std::int16_t) ||
                                   __is_same(T, std::int32_t) || __is_same(T, std::int64_t) ||
                                   __is_same(T, float) || __is_same(T, double) ||
                                   __is_same(T, std::uint8_t) || __is_same(T, std::int8_t);
}  // namespace detail
/// Whether T is an element type that a variable can have. The concept is a single condition,
/// because in an error clang explains each part of a compound condition.
template <class T>
concept element = detail::is_element<T>;

/// The dtype of a C++ type.
template <element T>
inline constexpr dtype dtype_of = __is_same(T, bool)           ? dtype::boolean
                                  : __is_same(T, std::int16_t) ? dtype::int16
                                  : __is_same(T, std::int32_t) ? dtype::int32
                                  : __is_same(T, std::int64_t) ? dtype::int64
                                  : __is_same(T, float)        ? dtype::float32
                                  : __is_same(T, double)       ? dtype::float64
                                  : __is_same(T, std::uint8_t) ? dtype::uint8
                                                               : dtype::int8;

/// Returns the size of one element in bytes.
constexpr int size_of(dtype type) {
  switch (type) {
    case dtype::int16:
    case dtype::float16:
      return 2;
    case dtype::int32:
    case dtype::float32:
      return 4;
    case dtype::int64:
    case dtype::float64:
      return 8;
    default:
      return 1;
  }
}

/// Returns Fluid's name of the type, as in `layers.data(dtype='float32')`.
constexpr const char* name_of(dtype type) {
  switch (type) {
    case dtype::boolean:
      return "bool";
    case dtype::int16:
      return "int16";
    case dtype::int32:
      return "int32";
    case dtype::int64:
      return "int64";
    case dtype::float16:
      return "float16";
    case dtype::float32:
      return "float32";
    case dtype::float64:
      return "float64";
    case dtype::uint8:
      return "uint8";
    default:
      return "int8";
  }
}

/// Whether values of the type are real numbers. Only variables of such types have gradients.
constexpr bool is_floating(dtype type) {
  return type == dtype::float32 || type == dtype::float64 || type == dtype::float16;
}

}}  // namespace lamina
