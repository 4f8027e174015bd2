// SPDX-License-Identifier: Apache-2.0
// lamina/engine/call/reduced_layout.hpp - reductions: which dimensions stay, and how two elements
// become one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>

#include <lamina/core/config.hpp>
#include <lamina/engine/call/array_layout.hpp>

namespace lamina::engine {

/// The dimensions of X in two parts: those that stay, and those that are reduced.
struct reduced_layout {
  array_layout x;
  std::ptrdiff_t out[array_layout::most] = {};  // the step in Out of each dimension of X
  bool is_reduced[array_layout::most] = {};
  std::ptrdiff_t count = 1;  // elements that become one

  reduced_layout(const operator_call& c, const operand& in, const operand& result)
      : x(layout_of(in)) {
    const bool all = c.flag(2), keeps = c.flag(1);
    const int given = c.list_size(0);
    for (int d = 0; d < x.rank; ++d) is_reduced[d] = all;
    if (!all && given == 0) is_reduced[0] = true;
    for (int i = 0; i < given; ++i) is_reduced[dimension_of(c, c.integer_at(0, i), x.rank)] = true;
    const array_layout y = layout_of(result);
    for (int d = 0, o = 0; d < x.rank; ++d) {
      if (is_reduced[d])
        count *= x.extent[d];
      else
        out[d] = y.step[o];
      if (!is_reduced[d] || keeps) ++o;
    }
  }
  /// The loops over all elements; array 0 is X, array 1 the result, further ones lie as X does
  /// but with steps of their own.
  loop_nest<2> all() const {
    loop_nest<2> l;
    for (int d = 0; d < x.rank; ++d) l.add(x.extent[d], x.step[d], out[d]);
    return l;
  }
};

enum class reduction_kind { sum, mean, max, min, product, all, any };

template <reduction_kind Kind, class T>
constexpr T identity_of() {
  using limits = std::numeric_limits<T>;
  if constexpr (Kind == reduction_kind::product)
    return T(1);
  else if constexpr (Kind == reduction_kind::max)
    return limits::has_infinity ? static_cast<T>(-limits::infinity()) : limits::lowest();
  else if constexpr (Kind == reduction_kind::min)
    return limits::has_infinity ? limits::infinity() : limits::max();
  else
    return T(0);
}

template <reduction_kind Kind, class T>
LAMINA_INLINE LAMINA_FN T reduced(T a, T b) {
  if constexpr (Kind == reduction_kind::product)
    return static_cast<T>(a * b);
  else if constexpr (Kind == reduction_kind::max)
    return a < b ? b : a;
  else if constexpr (Kind == reduction_kind::min)
    return b < a ? b : a;
  else
    return static_cast<T>(a + b);
}

}  // namespace lamina::engine
