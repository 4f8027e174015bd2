// SPDX-License-Identifier: Apache-2.0
// lamina/tensor/xtensor.hpp - includes xtensor's containers; their headers moved in 0.26.
#pragma once

#include <lamina/core/config.hpp>

#include <lamina/core/macros_hidden.hpp>

#if __has_include(<xtensor/containers/xarray.hpp>)
#include <xtensor/containers/xarray.hpp>
#else
#if defined(__clang__) && __clang_major__ >= 19
#include <cstddef>

#include <xtensor/xstorage.hpp>
// xtensor before 0.26 specializes rebind_container for any C<T, A> and for svector. clang 19 also
// matches default arguments (P0522), so the two are ambiguous. A full specialization for the types
// of shapes and strides resolves this.
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

#include <lamina/core/macros_shown.hpp>
