// SPDX-License-Identifier: Apache-2.0
// lamina/operators/reduce/cumsum/layer.hpp - cumsum: cumulative sums along a dimension.
#pragma once

#include <lamina/core/config.hpp>

#include <lamina/layers/one_operator.hpp>
#include <lamina/layers/shape.hpp>
#include <lamina/operators/reduce/cumsum/definition.hpp>
#include <lamina/operators/reduce/dimensions/definition.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace layer {

/// Options of cumsum.
struct cumsum_attr {
  bool exclusive = false;  // the sum does not include the element itself
  bool reverse = false;    // sums run from the last element
  std::string_view name{};
};

/// Returns y[i] = x[0] + ... + x[i] along dimension Axis of the shape including the rows. Fluid:
/// cumsum.
template <int Axis = -1, class T, class R, int... D>
constexpr auto cumsum(variable<T, R, D...> x, const options<cumsum_attr, T>& attr = {}) {
  using in = variable<T, R, D...>;
  constexpr bool exists = dimension(Axis, whole_shape<in>.rank) >= 0;
  static_assert(check<exists, gets<Axis>, gets_type<in>>,
                "lamina: layer: the axis is a dimension of the input");
  return detail::same_shape<operators::cumsum>(
      x, "cumsum", attr.name, x.builder->attribute_list(Axis, attr.exclusive, attr.reverse));
}

}}}  // namespace lamina::layer
