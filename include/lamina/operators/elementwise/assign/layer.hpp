// SPDX-License-Identifier: Apache-2.0
// lamina/operators/elementwise/assign/layer.hpp - copies, conversions, counters and constants.
#pragma once

#include <lamina/core/config.hpp>

#include <lamina/layers/one_operator.hpp>
#include <lamina/operators/elementwise/assign/definition.hpp>
#include <lamina/operators/elementwise/clip/definition.hpp>

namespace lamina::inline LAMINA_ABI::layer {

/// Options of assign, cast, increment, clip and clip_by_norm.
struct assign_attr {
  std::string_view name{};
};
/// Options of fill_constant.
struct fill_constant_attr {
  std::string_view name{};
};

/// A copy of x. Fluid: assign.
template <class T, class R, int... D>
constexpr variable<T, R, D...> assign(variable<T, R, D...> x,
                                      const options<assign_attr, T>& attr = {}) {
  return detail::same_shape<lamina::assign>(x, "assign", attr.name);
}

/// x with elements of type To: `cast<float>(ids)`. To an integer it rounds towards 0; a number that
/// To cannot hold becomes the nearest one that it holds, and NaN becomes 0. Fluid: cast.
template <element To, class T, class R, int... D>
constexpr variable<To, R, D...> cast(variable<T, R, D...> x,
                                     const options<assign_attr, T>& attr = {}) {
  program_builder& b = *x.builder;
  layer_helper layer(b, "cast", attr.name);
  const auto y = layer.template output<variable<To, R, D...>>();
  b.add_operator(schema_of<lamina::cast>(), {x.id}, {y.id},
                 b.attribute_list(static_cast<int>(dtype_of<T>), static_cast<int>(dtype_of<To>)));
  return layer.returns(y);
}

/// Copies x into `into`; from here on the handle `into` names the copy. Fluid: assign(output=).
template <class T, class R, int... D>
constexpr void assign(variable<T, R, D...> x, variable<T, R, D...>& into,
                      const options<assign_attr, T>& attr = {}) {
  into = assign(x, attr);
}

/// x + value, a number. From here on the handle x names the sum, which is also returned. Fluid:
/// increment. Operators that read x before keep the old value; Fluid would overwrite it.
template <class T, class R, int... D>
constexpr variable<T, R, D...> increment(variable<T, R, D...>& x, double value = 1,
                                         const options<assign_attr, T>& attr = {},
                                         int line = __builtin_LINE()) {
  lamina::detail::require_visible(*x.builder, x.id, line);
  return x = detail::same_shape<lamina::increment>(x, "increment", attr.name,
                                                   x.builder->attribute_list(value));
}
/// x + value for a temporary x.
template <class T, class R, int... D>
constexpr variable<T, R, D...> increment(variable<T, R, D...>&& x, double value = 1,
                                         const options<assign_attr, T>& attr = {},
                                         int line = __builtin_LINE()) {
  return increment(x, value, attr, line);
}

/// min(max(x, low), high). Fluid: clip.
template <class T, class R, int... D>
constexpr variable<T, R, D...> clip(variable<T, R, D...> x, double low, double high,
                                    const options<assign_attr, T>& attr = {},
                                    int line = __builtin_LINE()) {
  x.builder->require_option(low <= high, line, "clip: low <= high");
  return detail::same_shape<lamina::clip>(x, "clip", attr.name,
                                          x.builder->attribute_list(low, high));
}

/// x if ||x|| <= norm, else x * norm / ||x||. Fluid: clip_by_norm.
template <class T, class R, int... D>
constexpr variable<T, R, D...> clip_by_norm(variable<T, R, D...> x, float norm,
                                            const options<assign_attr, T>& attr = {},
                                            int line = __builtin_LINE()) {
  x.builder->require_option(norm >= 0, line, "clip_by_norm: norm >= 0");
  return detail::same_shape<lamina::clip_to_norm>(x, "clip_by_norm", attr.name,
                                                  x.builder->attribute_list(norm));
}

/// A variable of shape [Dims...], or [1] without dimensions, whose elements are `value`:
/// `fill_constant<std::int64_t>(main, 10)`. Fluid: fill_constant.
template <element T, int... Dims>
constexpr auto fill_constant(const block& main, double value, const fill_constant_attr& attr = {}) {
  static_assert(((Dims > 0) && ...), "lamina: fill_constant: dimensions are positive");
  program_builder& b = *main.builder;
  layer_helper layer(b, "fill_constant", attr.name);
  const auto filled = [&](auto y) {
    const variable_desc v = b.variables[detail::without_gradient(layer, y.id)];
    const int at = b.integers.count;
    for (int i = 0; i < v.rank; ++i) {
      const int extent = b.dims[v.dims + i];
      b.integers.push(extent);
    }
    const int attributes = b.attribute_list(attribute_value{0, at, v.rank},
                                            static_cast<int>(dtype_of<T>), value, false);
    const int out = b.arguments.count;
    b.argument(y.id);
    b.operators.push({&schema_of<lamina::fill_constant>(), out, out, out + 1, attributes,
                      b.current_block, b.role});
    return layer.returns(y);
  };
  if constexpr (sizeof...(Dims) == 0)
    return filled(layer.template output<variable<T, once, 1>>());
  else
    return filled(layer.template output<variable<T, once, Dims...>>());
}

}  // namespace lamina::inline LAMINA_ABI::layer
