// SPDX-License-Identifier: Apache-2.0
// lamina/layers/create_parameter.hpp - makes a parameter that does not belong to a layer.
#pragma once

#include <lamina/core/config.hpp>

#include <lamina/core/messages/check.hpp>
#include <lamina/layers/layer_helper.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace layer {

/// Makes a parameter of shape [Dims...] that any layer may read: `auto w = create_parameter<float,
/// 64, 16>(main, {.name = "w"})`. For example, `matmul(x, w)` multiplies by it, and a tied decoder
/// uses `matmul<matmul_form{.transpose_y = true}>(h, w)`. The options are those of the parameters
/// of layers; the default `initializer` is Xavier's. The default name is "create_parameter_0.w_0".
/// If an earlier parameter has the given name, returns that parameter. Fluid:
/// layers.create_parameter.
template <element T, int... Dims>
constexpr auto create_parameter(const block& main, const param_attr& attr = {},
                                int line = __builtin_LINE()) {
  constexpr bool fits =
      (__is_same(T, float) || __is_same(T, double)) && sizeof...(Dims) > 0 && ((Dims > 0) && ...);
  static_assert(check<fits, gets_type<T>, gets<Dims...>>,
                "lamina: create_parameter: expected float or double and positive dimensions");
  program_builder& b = *main.builder;
  if constexpr (fits) {
    layer_helper layer(b, "create_parameter");
    return variable<T, once, Dims...>{
        &b, layer.parameter(attr, ".w_", {Dims...}, dtype_of<T>, init::xavier(), line)};
  } else {
    return variable<float, once, 1>{&b, 0};
  }
}

/// Makes the same parameter in the program of x. A custom layer that has no block, only its input
/// x, calls `create_parameter<float, 64>(x)`.
template <element T, int... Dims, class U, class R, int... D>
constexpr auto create_parameter(variable<U, R, D...> x, const param_attr& attr = {},
                                int line = __builtin_LINE()) {
  return create_parameter<T, Dims...>(block{x.builder, x.builder->current_block}, attr, line);
}

}}}  // namespace lamina::layer
