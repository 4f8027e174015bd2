// SPDX-License-Identifier: Apache-2.0
// lamina/engine/cpu/memory/array_layout.hpp - reads and writes elements of arrays of any element
// type.
#pragma once

#include <lamina/core/config.hpp>

#include <cstddef>
#include <cstdint>

#include <lamina/core/dtype.hpp>
#include <lamina/core/numbers/number_cast.hpp>
#include <lamina/engine/common/array_layout.hpp>
#include <lamina/engine/cpu/schedule/call_context.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace engine::cpu {

/// Calls f with a zero of the C++ type that a dtype denotes.
template <class F>
void with_type(dtype type, F&& f) {
  switch (type) {
    case dtype::float32:
      return f(float{});
    case dtype::float64:
      return f(double{});
    case dtype::int64:
      return f(std::int64_t{});
    case dtype::int32:
      return f(std::int32_t{});
    case dtype::int16:
      return f(std::int16_t{});
    case dtype::int8:
      return f(std::int8_t{});
    case dtype::boolean:
      return f(bool{});
    default:
      return f(std::uint8_t{});
  }
}

/// Calls f with a zero of the unsigned integer type that has the size of a dtype. It is for copies,
/// which depend only on the size of an element.
template <class F>
void with_word(dtype type, F&& f) {
  switch (size_of(type)) {
    case 1:
      return f(std::uint8_t{});
    case 2:
      return f(std::uint16_t{});
    case 4:
      return f(std::uint32_t{});
    default:
      return f(std::uint64_t{});
  }
}

/// Reads element `at` of an array of element type `type` and converts it to T.
template <class T>
LAMINA_NOINLINE T load_as(const void* data, dtype type, std::ptrdiff_t at) {
  T value{};
  with_type(type,
            [&]<class From>(From) { value = number_cast<T>(static_cast<const From*>(data)[at]); });
  return value;
}

/// Assigns an element of an array of any type. For bool, every value other than 0 becomes true.
template <class T>
LAMINA_NOINLINE void store_as(void* data, dtype type, std::ptrdiff_t at, T value) {
  with_type(type, [&]<class To>(To) { static_cast<To*>(data)[at] = number_cast<To>(value); });
}

/// Assigns a result of integer arithmetic to an element of an array of any type. A number out of
/// the type's range wraps around; store_as would store the nearest number in the range.
LAMINA_NOINLINE inline void store_wrapped(void* data, dtype type, std::ptrdiff_t at,
                                          std::int64_t value) {
  with_type(type, [&]<class To>(To) { static_cast<To*>(data)[at] = wrapping_cast<To>(value); });
}

/// Reads element (row, column) of an operand of any integer type.
inline std::int64_t integer_in(const operand& o, int row, int column) {
  return load_as<std::int64_t>(o.data, o.type, row * o.stride + column);
}

}}}  // namespace lamina::engine::cpu
