// SPDX-License-Identifier: Apache-2.0
// lamina/operators/activation/prelu_maxout/layer.hpp - prelu, an activation with a trained slope,
// and maxout.
#pragma once

#include <lamina/core/config.hpp>

#include <lamina/layers/shape.hpp>
#include <lamina/operators/activation/prelu_maxout/definition.hpp>
#include <lamina/operators/activation/simple/layer.hpp>
#include <lamina/operators/activation/tunable/definition.hpp>
#include <lamina/program/param_attr.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace layer {

/// The number of slopes that prelu trains: one for all elements, one per channel (dimension 1), or
/// one per element of a row.
enum class prelu_mode : std::uint8_t { all, channel, element };

/// Options of prelu.
struct prelu_attr {
  prelu_mode mode = prelu_mode::all;
  param_attr param{};  // attributes of the slopes; initialised with 0.25
  std::string_view name{};
};

/// Returns x if x > 0, else alpha * x. alpha is a parameter of shape [1] (mode `all`), [1, C, 1, 1]
/// (`channel`) or [1, inner dimensions] (`element`). Source: He et al. 2015. Fluid: prelu.
template <class T, class R, int... D>
constexpr auto prelu(variable<T, R, D...> x, const options<prelu_attr, T>& attr = {},
                     int line = __builtin_LINE()) {
  constexpr bool fits = detail::is_real<T> && sizeof...(D) > 0 && has_rows<R>;
  static_assert(check<fits, gets_type<variable<T, R, D...>>>,
                "lamina: prelu: the input is floating point and has rows and inner dimensions");
  program_builder& b = *x.builder;
  layer_helper layer(b, "prelu", attr.name);
  const int extent[] = {1, D..., 1};
  const initializer quarter = init::constant(0.25f);
  int alpha = 0;
  if (attr.mode == prelu_mode::all)
    alpha = layer.parameter(attr.param, ".w_", {1}, dtype_of<T>, quarter, line);
  else if (attr.mode == prelu_mode::channel)
    alpha = layer.parameter(attr.param, ".w_", {1, extent[1], 1, 1}, dtype_of<T>, quarter, line);
  else
    alpha = layer.parameter(attr.param, ".w_", {1, D...}, dtype_of<T>, quarter, line);
  const int y = layer.output_like(x.id);
  const char* mode = attr.mode == prelu_mode::all       ? "all"
                     : attr.mode == prelu_mode::channel ? "channel"
                                                        : "element";
  b.add_operator(schema_of<operators::prelu>(), {x.id, alpha}, {y}, b.attribute_list(b.text(mode)));
  return layer.returns(variable<T, R, D...>{&b, y});
}

/// Returns, for each position of an image, the largest of `Groups` neighbouring channels. x is [N,
/// C, H, W], the result [N, C / Groups, H, W]. Source: Goodfellow et al. 2013. Fluid: maxout.
template <int Groups, class T, class R, int C, int... D>
constexpr auto maxout(variable<T, R, C, D...> x, const options<activation_attr, T>& attr = {}) {
  constexpr bool divides = C % Groups == 0;
  static_assert(check<divides, expects<Groups>, gets<C>>,
                "lamina: maxout: the number of groups divides the number of channels");
  layer_helper layer(*x.builder, "maxout", attr.name);
  const auto y = layer.template output<variable<T, R, C / Groups, D...>>();
  x.builder->add_operator(schema_of<operators::maxout>(), {x.id}, {y.id},
                          x.builder->attribute_list(Groups));
  return layer.returns(y);
}

}}}  // namespace lamina::layer
