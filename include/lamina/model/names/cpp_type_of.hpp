// SPDX-License-Identifier: Apache-2.0
// lamina/model/names/cpp_type_of.hpp - the C++ type of elements of a dtype.
#pragma once

#include <lamina/core/config.hpp>

#include <cstdint>

#include <lamina/core/dtype.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace detail {

template <dtype>
struct cpp_type_of;
template <>
struct cpp_type_of<dtype::float32> {
  using type = float;
};
template <>
struct cpp_type_of<dtype::float64> {
  using type = double;
};
template <>
struct cpp_type_of<dtype::int64> {
  using type = std::int64_t;
};
template <>
struct cpp_type_of<dtype::int32> {
  using type = std::int32_t;
};
template <>
struct cpp_type_of<dtype::int16> {
  using type = std::int16_t;
};
template <>
struct cpp_type_of<dtype::int8> {
  using type = std::int8_t;
};
template <>
struct cpp_type_of<dtype::uint8> {
  using type = std::uint8_t;
};
template <>
struct cpp_type_of<dtype::boolean> {
  using type = bool;
};

}}}  // namespace lamina::detail
