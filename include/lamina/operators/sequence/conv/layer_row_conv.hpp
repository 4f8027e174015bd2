// SPDX-License-Identifier: Apache-2.0
// lamina/operators/sequence/conv/layer_row_conv.hpp - row_conv: a convolution of each column over
// the current and future rows of a sequence.
#pragma once

#include <lamina/core/config.hpp>

#include <lamina/layers/activation.hpp>
#include <lamina/layers/sequence_rows.hpp>
#include <lamina/operators/sequence/conv/definition.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace layer {

/// Options of row_conv.
struct row_conv_attr {
  param_attr param{};
  activation act = activation::identity;
  std::string_view name{};
};

/// Returns y[t] = act(sum_j x[t + j] * W[j]), with elementwise products, over 0 <= j <=
/// FutureContext; rows after the end of a sequence count as 0. This layer gives some future context
/// to a recurrence that only runs forwards. It has a parameter W [FutureContext + 1, width],
/// initialised by Xavier. Source: Amodei et al., Deep Speech 2 (2015). Fluid: layers.row_conv.
template <int FutureContext, class T, class R, int... D>
constexpr auto row_conv(variable<T, R, D...> x, const options<row_conv_attr, T>& attr = {},
                        int line = __builtin_LINE()) {
  using in = variable<T, R, D...>;
  constexpr bool fits = is_tokens<R> && detail::is_real<T> && in::rank == 1 && FutureContext >= 0;
  static_assert(check<fits, gets<FutureContext>, gets_type<in>>,
                "lamina: row_conv: the input holds sequences of floating point rows with one "
                "dimension, the context is not negative");
  program_builder& b = *x.builder;
  layer_helper layer(b, "row_conv", attr.name);
  const int w = layer.parameter(attr.param, ".w_", {FutureContext + 1, in::size}, dtype_of<T>,
                                init::xavier(), line);
  const int y = layer.output_like(x.id);
  b.add_operator(schema_of<operators::row_conv>(), {x.id, w}, {y});
  return layer.returns(in{&b, apply_activation(layer, attr.act, y)});
}

}}}  // namespace lamina::layer
