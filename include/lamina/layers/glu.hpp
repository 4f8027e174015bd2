// SPDX-License-Identifier: Apache-2.0
// lamina/layers/glu.hpp - gated linear unit: one half of a variable gates the other half.
#pragma once

#include <lamina/core/config.hpp>

#include <lamina/operators/activation/simple/layer.hpp>
#include <lamina/operators/elementwise/binary/layer.hpp>
#include <lamina/operators/shape/concat/layer_split.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace layer {

/// Options of glu.
struct glu_attr {
  std::string_view name{};
};

/// a * sigmoid(b), where a and b are the halves of x along dimension Axis of the whole shape.
/// Source: Dauphin et al. 2016. Fluid: nets.glu.
template <int Axis = -1, class T, class R, int... D>
constexpr auto glu(variable<T, R, D...> x, const options<glu_attr, T>& attr = {},
                   int line = __builtin_LINE()) {
  using in = variable<T, R, D...>;
  constexpr extents whole = whole_shape<in>;
  constexpr int axis = dimension(Axis, whole.rank);
  constexpr int extent = axis < 0 ? -1 : whole.at[axis < 0 ? 0 : axis];
  constexpr bool halves = detail::is_real<T> && extent > 0 && extent % 2 == 0;
  static_assert(check<halves, gets<extent>, gets_type<in>>,
                "lamina: glu: floating point, and the inner dimension of the axis is even");
  if constexpr (halves) {
    layer_helper layer(*x.builder, "glu", attr.name);
    const auto parts = split<2, Axis>(x);
    return layer.returns(
        elementwise_mul(std::get<0>(parts), sigmoid(std::get<1>(parts)), {}, line));
  } else {
    return x;
  }
}

}}}  // namespace lamina::layer
