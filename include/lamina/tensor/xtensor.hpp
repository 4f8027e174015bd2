// SPDX-License-Identifier: Apache-2.0
// lamina/tensor/xtensor.hpp - includes xtensor's containers, whose headers have other paths since
// xtensor 0.26.
#pragma once

#include <lamina/core/config.hpp>

#include <lamina/core/simd/macros_hidden.hpp>

#if __has_include(<xtensor/containers/xarray.hpp>)
#include <xtensor/containers/xarray.hpp>
#else
#if defined(__clang__) && __clang_major__ >= 19
#include <cstddef>

#include <xtensor/xstorage.hpp>
// xtensor before 0.26 has two specializations of rebind_container: for any C<T, A>, and for
// svector, which has further parameters with defaults. From version 19 on, clang also applies the
// first specialization to svector (P0522), so that the two are ambiguous. The full specializations
// below, for the types of shapes and strides, are preferred to both specializations.
namespace xt {
template <>
struct rebind_container<std::ptrdiff_t, svector<std::size_t>> {
  using type = svector<std::ptrdiff_t>;
};
template <>
struct rebind_container<std::size_t, svector<std::ptrdiff_t>> {
  using type = svector<std::size_t>;
};
template <>
struct rebind_container<std::size_t, svector<std::size_t>> {
  using type = svector<std::size_t>;
};
template <>
struct rebind_container<std::ptrdiff_t, svector<std::ptrdiff_t>> {
  using type = svector<std::ptrdiff_t>;
};
template <>
struct rebind_container<int, svector<std::size_t>> {  // reshape({2, 3})
  using type = svector<int>;
};
}  // namespace xt
#endif
#include <xtensor/xarray.hpp>
#endif

#include <lamina/core/simd/macros_shown.hpp>
