// SPDX-License-Identifier: Apache-2.0
// lamina/operators/fill/layer.hpp - constants.
#pragma once

#include <lamina/core/config.hpp>

#include <lamina/layers/one_operator.hpp>

namespace lamina::inline LAMINA_ABI::layer {

/// Options of fill_constant.
struct fill_constant_attr {
  std::string_view name{};
};

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
