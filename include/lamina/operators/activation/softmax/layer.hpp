// SPDX-License-Identifier: Apache-2.0
// lamina/operators/activation/softmax/layer.hpp - the softmax function.
#pragma once

#include <lamina/core/config.hpp>

#include <lamina/layers/activation.hpp>
#include <lamina/layers/shape.hpp>
#include <lamina/operators/activation/simple/layer.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace layer {

/// Options of softmax.
struct softmax_attr {
  std::string_view name{};
};

/// Returns e^(x - max) / sum e^(x - max), where max and sum are along dimension Axis of the shape
/// including the rows. If all elements along this dimension are minus infinity, the results are
/// NaN. Fluid: softmax.
template <int Axis = -1, class T, class R, int... D>
constexpr auto softmax(variable<T, R, D...> x, const options<softmax_attr, T>& attr = {}) {
  using in = variable<T, R, D...>;
  constexpr int axis = dimension(Axis, whole_shape<in>.rank);
  constexpr bool inner = axis >= 0 && whole_shape<in>.at[axis < 0 ? 0 : axis] > 0;
  static_assert(check<inner, gets<Axis>, gets_type<in>>,
                "lamina: softmax: the axis is an inner dimension, not the rows");
  return detail::activate<operators::softmax>(x, attr.name,
                                              Axis == -1 ? -1 : x.builder->attribute_list(Axis));
}

}}}  // namespace lamina::layer
