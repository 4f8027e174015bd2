// SPDX-License-Identifier: Apache-2.0
// lamina/layers/create_global_var.hpp - a variable that keeps its value from run to run.
#pragma once

#include <lamina/core/config.hpp>

#include <lamina/core/messages/check.hpp>
#include <lamina/layers/layer_helper.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace layer {

/// Options of create_global_var.
struct create_global_var_attr {
  std::string_view name{};
};

/// Makes a variable of shape [Dims...], or [1] without dimensions. All its elements start as
/// `value`, and it keeps each value that `store` writes to it, from step to step and from run to
/// run: `auto rate = create_global_var<float>(main, 0.1, {.name = "rate"})`. The model contains the
/// variable as a parameter that no optimizer updates: `model.parameter<"rate">()` reads it on the
/// host, and `model.set_parameter<"rate">({0.01f})` sets it. The default name is
/// "global_var_0.w_0". A second call with the same name returns the same variable. Fluid:
/// layers.create_global_var(persistable=True).
template <element T, int... Dims>
constexpr auto create_global_var(const block& main, double value,
                                 const create_global_var_attr& attr = {},
                                 int line = __builtin_LINE()) {
  constexpr bool fits = (__is_same(T, float) || __is_same(T, double)) && ((Dims > 0) && ...);
  static_assert(check<fits, gets_type<T>, gets<Dims...>>,
                "lamina: create_global_var: expected float or double and positive dimensions");
  program_builder& b = *main.builder;
  if constexpr (!fits) {
    return variable<float, once, 1>{&b, 0};
  } else {
    layer_helper layer(b, "global_var");
    const param_attr param{.name = attr.name,
                           .initializer = {.kind = initializer_kind::constant, .a = value},
                           .trainable = false};
    if constexpr (sizeof...(Dims) == 0)
      return variable<T, once, 1>{
          &b, layer.parameter(param, ".w_", {1}, dtype_of<T>, init::constant(), line)};
    else
      return variable<T, once, Dims...>{
          &b, layer.parameter(param, ".w_", {Dims...}, dtype_of<T>, init::constant(), line)};
  }
}

}}}  // namespace lamina::layer
