// SPDX-License-Identifier: Apache-2.0
// lamina/operators/elementwise/assign/layer.hpp - assign, cast and increment: copies, conversions
// of element types, and counters.
#pragma once

#include <lamina/core/config.hpp>

#include <lamina/layers/one_operator.hpp>
#include <lamina/operators/elementwise/assign/definition.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace layer {

/// Options of assign, cast, increment, clip and clip_by_norm.
struct assign_attr {
  std::string_view name{};
};

/// Returns a copy of x. Fluid: assign.
template <class T, class R, int... D>
constexpr variable<T, R, D...> assign(variable<T, R, D...> x,
                                      const options<assign_attr, T>& attr = {}) {
  return detail::same_shape<operators::assign>(x, "assign", attr.name);
}

/// Returns x with elements of type To: `cast<float>(ids)`. A conversion to integers rounds towards
/// 0. A number outside of To's range becomes the nearest number in the range, and NaN becomes 0.
/// Fluid: cast.
template <element To, class T, class R, int... D>
constexpr variable<To, R, D...> cast(variable<T, R, D...> x,
                                     const options<assign_attr, T>& attr = {}) {
  program_builder& b = *x.builder;
  layer_helper layer(b, "cast", attr.name);
  const auto y = layer.template output<variable<To, R, D...>>();
  b.add_operator(schema_of<operators::cast>(), {x.id}, {y.id},
                 b.attribute_list(static_cast<int>(dtype_of<T>), static_cast<int>(dtype_of<To>)));
  return layer.returns(y);
}

/// Copies x. After the call, the handle `into` refers to the copy. Fluid: assign(output=).
template <class T, class R, int... D>
constexpr void assign(variable<T, R, D...> x, variable<T, R, D...>& into,
                      const options<assign_attr, T>& attr = {}) {
  into = assign(x, attr);
}

/// Adds the number `value` to x and returns the sum. After the call, the handle x refers to the
/// sum. Operators that were recorded before the call still read the old value. Fluid: increment;
/// there, the old value is overwritten.
template <class T, class R, int... D>
constexpr variable<T, R, D...> increment(variable<T, R, D...>& x, double value = 1,
                                         const options<assign_attr, T>& attr = {},
                                         int line = __builtin_LINE()) {
  lamina::detail::require_visible(*x.builder, x.id, line);
  return x = detail::same_shape<operators::increment>(x, "increment", attr.name,
                                                      x.builder->attribute_list(value));
}
/// Returns x + value. This overload accepts a temporary x.
template <class T, class R, int... D>
constexpr variable<T, R, D...> increment(variable<T, R, D...>&& x, double value = 1,
                                         const options<assign_attr, T>& attr = {},
                                         int line = __builtin_LINE()) {
  return increment(x, value, attr, line);
}

}}}  // namespace lamina::layer
