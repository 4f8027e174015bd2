// SPDX-License-Identifier: Apache-2.0
// lamina/operators/reduce/dimensions/common.hpp - the loops of the reduce_* operators over the kept
// and the reduced dimensions.
#pragma once

#include <lamina/core/config.hpp>

#include <cstddef>
#include <limits>

#include <lamina/core/numbers/extremes.hpp>
#include <lamina/core/numbers/wrapping.hpp>
#include <lamina/engine/common/array_layout.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace engine {

/// The dimensions of X, divided into dimensions that Out keeps and dimensions that are reduced.
struct reduced_layout {
  array_layout x;
  std::ptrdiff_t out[array_layout::most] = {};  // per dimension of X: its stride in Out
  bool is_reduced[array_layout::most] = {};
  std::ptrdiff_t count = 1;  // elements of X per result

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
  /// The loops over all elements of X and, at the same time, over the elements of Out to which they
  /// are reduced.
  loop_nest<2> all() const {
    loop_nest<2> l;
    for (int d = 0; d < x.rank; ++d) l.add(x.extent[d], x.step[d], out[d]);
    return l;
  }
  /// The loops over the kept dimensions of three arrays: X, an array `like` with the shape of X,
  /// and Out.
  loop_nest<3> kept(const array_layout& like) const {
    loop_nest<3> l;
    for (int d = 0; d < x.rank; ++d)
      if (!is_reduced[d]) l.add(x.extent[d], x.step[d], like.step[d], out[d]);
    return l;
  }
  /// The loops over the reduced dimensions of two arrays: X and an array `like` with the shape of
  /// X.
  loop_nest<2> over(const array_layout& like) const {
    loop_nest<2> l;
    for (int d = 0; d < x.rank; ++d)
      if (is_reduced[d]) l.add(x.extent[d], x.step[d], like.step[d]);
    return l;
  }
};

enum class reduction_kind { sum, mean, max, min, product, all, any };

/// The arrays of the gradient of a sum, a mean, a maximum or a minimum, and the loops over all
/// elements. X and Out are set only for maxima and minima, whose gradients read them.
template <reduction_kind Kind, class Real = float>
struct reduce_gradient_layout {
  static constexpr bool is_extreme = Kind == reduction_kind::max || Kind == reduction_kind::min;
  operand in, out, grad, dx;
  loop_nest<4> loops;  // strides: dX, the gradient of Out, X, Out
  Real factor = 1;     // multiplies the gradient of Out

  explicit reduce_gradient_layout(const operator_call& c)
      : in(c.input(0)),
        out(c.input(is_extreme ? 1 : 0)),
        grad(c.input(is_extreme ? 2 : 1)),
        dx(c.output(0)) {
    if (!dx) return;
    require_real<Real>(c, dx);
    const reduced_layout d(c, in, grad), y(c, in, is_extreme ? out : grad);
    const array_layout g = layout_of(dx);
    for (int k = 0; k < g.rank; ++k)
      loops.add(g.extent[k], g.step[k], d.out[k], d.x.step[k], y.out[k]);
    if (Kind == reduction_kind::mean) factor = Real(1) / static_cast<Real>(d.count);
  }
};

template <reduction_kind Kind, class T>
constexpr T identity_of() {
  using limits = std::numeric_limits<T>;
  if constexpr (Kind == reduction_kind::product)
    return T(1);
  else if constexpr (Kind == reduction_kind::max)
    return limits::has_infinity ? static_cast<T>(-limits::infinity()) : limits::lowest();
  else if constexpr (Kind == reduction_kind::min)
    return limits::has_infinity ? limits::infinity() : (limits::max)();
  else
    return T(0);
}

template <reduction_kind Kind, class T>
LAMINA_INLINE LAMINA_NUMBER_FN T reduced(T a, T b) {
  if constexpr (Kind == reduction_kind::product)
    return math::wrapping_product(a, b);
  else if constexpr (Kind == reduction_kind::max)
    return math::maximum(a, b);
  else if constexpr (Kind == reduction_kind::min)
    return math::minimum(a, b);
  else
    return math::wrapping_sum(a, b);
}

}}}  // namespace lamina::engine
