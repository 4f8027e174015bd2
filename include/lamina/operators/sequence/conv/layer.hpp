// SPDX-License-Identifier: Apache-2.0
// lamina/operators/sequence/conv/layer.hpp - sequence_conv: a convolution over the rows of
// sequences.
#pragma once

#include <lamina/core/config.hpp>

#include <lamina/layers/activation.hpp>
#include <lamina/layers/sequence_rows.hpp>
#include <lamina/operators/elementwise/binary/definition.hpp>
#include <lamina/operators/sequence/conv/definition.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace layer {

/// Options of sequence_conv.
struct sequence_conv_attr {
  /// The value of padding_start for which the window begins FilterSize / 2 rows before the row of
  /// the result.
  static constexpr int centred = -2147483647;

  int padding_start = centred;     // first row of the window, relative to the row of the result
  bool padding_trainable = false;  // rows beyond the ends of sequences: a parameter, not 0
  activation act = activation::identity;
  param_attr param{};          // attributes of the filter
  param_attr padding_param{};  // attributes of the parameter of padding_trainable
  bool bias = true;            // false: no bias
  param_attr bias_param{};     // attributes of the bias
  std::string_view name{};
};

/// Returns y[t] = act(x[t + start .. t + start + FilterSize - 1] * W + b) for each row t of each
/// sequence: `sequence_conv<NumFilters, FilterSize>(x, {.act = lamina::activation::tanh})`. `start`
/// is -(FilterSize / 2) unless padding_start is set. Rows before the begin and after the end of a
/// sequence are 0. The layer has two parameters: a filter W [FilterSize * width, NumFilters],
/// initialised by Xavier, and a bias b [NumFilters], initialised with zeros. With
/// padding_trainable, the rows before and after a sequence are a third parameter, initialised with
/// zeros and shared by all sequences, as in v2's context projection. Fluid: layers.sequence_conv.
template <int NumFilters, int FilterSize = 3, class T, class R, int... D>
constexpr auto sequence_conv(variable<T, R, D...> x,
                             const options<sequence_conv_attr, T>& attr = {},
                             int line = __builtin_LINE()) {
  using in = variable<T, R, D...>;
  constexpr bool fits = is_tokens<R> && detail::is_real<T> && in::rank == 1;
  constexpr bool positive = NumFilters > 0 && FilterSize > 0;
  static_assert(check<fits, gets_type<in>>,
                "lamina: sequence_conv: the input holds sequences of floating point rows with one "
                "dimension");
  static_assert(check<positive, gets<NumFilters, FilterSize>>,
                "lamina: sequence_conv: number and size of the filters are positive");
  using out = variable<T, R, (NumFilters > 0 ? NumFilters : 1)>;
  program_builder& b = *x.builder;
  layer_helper layer(b, "sequence_conv", attr.name);
  const int start = attr.padding_start == attr.centred ? -(FilterSize / 2) : attr.padding_start;
  const int before = start < 0 ? -start : 0;
  const int behind = start + FilterSize > 1 ? start + FilterSize - 1 : 0;
  const bool padded = attr.padding_trainable && before + behind > 0;
  const int filter = layer.parameter(attr.param, ".w_", {FilterSize * in::size, NumFilters},
                                     dtype_of<T>, init::xavier(), line);
  const int padding = padded
                          ? layer.parameter(attr.padding_param, ".w_", {before + behind, in::size},
                                            dtype_of<T>, init::constant(0), line)
                          : -1;
  int y = layer.template output<out>().id;
  b.add_operator(schema_of<operators::sequence_conv>(), {x.id, padding, filter}, {y},
                 b.attribute_list(FilterSize, start, 1, padded));
  if (attr.bias) {
    const int bias =
        layer.parameter(attr.bias_param, ".b_", {NumFilters}, dtype_of<T>, init::constant(0), line);
    const int sum = layer.output_like(y);
    b.add_operator(schema_of<operators::elementwise_add>(), {y, bias}, {sum}, b.attribute_list(1));
    y = sum;
  }
  return layer.returns(out{&b, apply_activation(layer, attr.act, y)});
}
#ifdef LAMINA_NAMES_OPTIONS
template <any_value...>
constexpr no_match<sequence_conv_attr> sequence_conv(...) = delete;  // call sequence_conv<32>(x)
#endif

}}}  // namespace lamina::layer
