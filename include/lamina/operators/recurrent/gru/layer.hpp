// SPDX-License-Identifier: Apache-2.0
// lamina/operators/recurrent/gru/layer.hpp - gated recurrent units over sequences, and one step of
// them.
#pragma once

#include <lamina/core/config.hpp>

#include <tuple>

#include <lamina/operators/recurrent/gru/definition.hpp>
#include <lamina/operators/recurrent/layer.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace layer {

/// Options of dynamic_gru.
struct dynamic_gru_attr {
  bool is_reverse = false;   // steps run from the last element of each sequence
  bool origin_mode = false;  // the update gate u weights the old state, as in the paper
  recurrent_activation gate_activation = recurrent_activation::sigmoid;
  recurrent_activation candidate_activation = recurrent_activation::tanh;
  param_attr param{};       // attributes of the weight
  bool bias = true;         // false: no bias
  param_attr bias_param{};  // attributes of the bias
  std::string_view name{};
};

namespace detail {

template <int Size, class V>
struct gru_of;
template <int Size, class T, class R, int... D>
struct gru_of<Size, variable<T, R, D...>> {
  using state = variable<T, R, Size>;

  static constexpr state record(variable<T, R, D...> x, int h_0, const dynamic_gru_attr& attr,
                                int line) {
    program_builder& b = *x.builder;
    layer_helper layer(b, "gru", attr.name);
    const int weight =
        layer.parameter(attr.param, ".w_", {Size, 3 * Size}, dtype_of<T>, init::xavier(), line);
    const int bias = attr.bias ? layer.parameter(attr.bias_param, ".b_", {1, 3 * Size}, dtype_of<T>,
                                                 init::constant(0), line)
                               : -1;
    const auto hidden = layer.template output<state>();
    const int gates = layer.template output<variable<T, R, 3 * Size>>().id;
    const int reset = layer.template output<state>().id;
    const int batch_hidden = layer.template output<state>().id;
    for (int v : {gates, reset, batch_hidden}) without_gradient(layer, v);
    const attribute_value candidate = text_of(b, attr.candidate_activation);
    const attribute_value gate = text_of(b, attr.gate_activation);
    b.add_operator(schema_of<operators::gru>(), {x.id, h_0, weight, bias},
                   {gates, reset, batch_hidden, hidden.id},
                   b.attribute_list(candidate, gate, attr.is_reverse, attr.origin_mode));
    return layer.returns(hidden);
  }
};

}  // namespace detail

/// Runs a GRU of width Size over each sequence of x and returns the state of each step, [-1, Size]
/// with the rows of x: `dynamic_gru<128>(fc<3 * 128>(words))`. x [-1, 3 * Size] must be the product
/// of the inputs with their weights, usually an fc, because the layer multiplies only the state.
/// operators/recurrent/gru/definition.hpp has the equations. The layer has a weight [Size, 3 *
/// Size], initialised by Xavier, and a bias [1, 3 * Size], initialised with zeros. Fluid:
/// layers.dynamic_gru.
template <int Size, class T, class R, int... D>
constexpr auto dynamic_gru(variable<T, R, D...> x, const options<dynamic_gru_attr, T>& attr = {},
                           int line = __builtin_LINE()) {
  using in = variable<T, R, D...>;
  static_assert(check<(Size > 0), gets<Size>>,
                "lamina: recurrent: the size is positive, and of all gates together a multiple of "
                "their number");
  static_assert(check<is_tokens<R>, gets_type<in>>,
                "lamina: recurrent: the rows of the input form sequences");
  static_assert(
      check<(!is_tokens<R> || detail::is_real_row<in, 3 * Size>), expects<3 * Size>, gets_type<in>>,
      "lamina: recurrent: the input is a row of floating point numbers for all gates");
  return detail::gru_of<detail::gate_width<Size, 1>, in>::record(x, -1, attr, line);
}

/// A dynamic_gru with an initial state: h_0 has one row [Size] per sequence.
template <int Size, class T, class R, int... D, class H, class HR, int... HD>
constexpr auto dynamic_gru(variable<T, R, D...> x, variable<H, HR, HD...> h_0,
                           const options<dynamic_gru_attr, T>& attr = {},
                           int line = __builtin_LINE()) {
  using in = variable<T, R, D...>;
  constexpr int width = detail::gate_width<Size, 1>;
  using state = variable<T, parent_rows<R>, width>;
  static_assert(check<(Size > 0), gets<Size>>,
                "lamina: recurrent: the size is positive, and of all gates together a multiple of "
                "their number");
  static_assert(check<is_tokens<R>, gets_type<in>>,
                "lamina: recurrent: the rows of the input form sequences");
  static_assert(
      check<(!is_tokens<R> || detail::is_real_row<in, 3 * Size>), expects<3 * Size>, gets_type<in>>,
      "lamina: recurrent: the input is a row of floating point numbers for all gates");
  static_assert(check<(!is_tokens<R> || __is_same(decltype(h_0), state)), expects_type<state>,
                      gets_type<decltype(h_0)>>,
                "lamina: recurrent: an initial state has one row for each sequence, of the width "
                "of the state");
  require_one_program(x, h_0, line);
  return detail::gru_of<width, in>::record(x, h_0.id, attr, line);
}

#ifdef LAMINA_NAMES_OPTIONS
template <any_value...>
constexpr no_match<dynamic_gru_attr> dynamic_gru(...) = delete;  // call dynamic_gru<32>(x)
#endif

/// Options of gru_unit.
struct gru_unit_attr {
  bool origin_mode = false;  // the update gate u weights the old state, as in the paper
  recurrent_activation activation = recurrent_activation::tanh;  // for the candidate
  recurrent_activation gate_activation = recurrent_activation::sigmoid;
  param_attr param{};       // attributes of the weight
  bool bias = true;         // false: no bias
  param_attr bias_param{};  // attributes of the bias
  std::string_view name{};
};

/// Computes one step of a GRU in every row: `auto [next, reset_hidden, gates] = gru_unit<3 *
/// 128>(x, hidden)`. x [-1, Size] must be the product of the inputs with their weights, usually an
/// fc; hidden [-1, Size / 3] is the previous state. Returns the next state h, r * h', and the gates
/// and the candidate u, r, c; operators/recurrent/gru/definition.hpp has the equations. Only the
/// first result passes gradients back. The layer has a weight [Size / 3, Size], initialised by
/// Xavier, and a bias [1, Size], initialised with zeros. Fluid: layers.gru_unit.
template <int Size, class T, class R, int... D, class H, class HR, int... HD>
constexpr auto gru_unit(variable<T, R, D...> x, variable<H, HR, HD...> hidden,
                        const options<gru_unit_attr, T>& attr = {}, int line = __builtin_LINE()) {
  using in = variable<T, R, D...>;
  constexpr int width = detail::gate_width<Size, 3>;
  using state = variable<T, R, width>;
  static_assert(check<(Size >= 3 && Size % 3 == 0), gets<Size>>,
                "lamina: recurrent: the size is positive, and of all gates together a multiple of "
                "their number");
  static_assert(check<detail::is_real_row<in, Size>, expects<Size>, gets_type<in>>,
                "lamina: recurrent: the input is a row of floating point numbers for all gates");
  static_assert(
      check<__is_same(decltype(hidden), state), expects_type<state>, gets_type<decltype(hidden)>>,
      "lamina: recurrent: the state has the rows of the input and the width of one gate");
  require_one_program(x, hidden, line);
  program_builder& b = *x.builder;
  layer_helper layer(b, "gru_unit", attr.name);
  const int weight =
      layer.parameter(attr.param, ".w_", {width, 3 * width}, dtype_of<T>, init::xavier(), line);
  const int bias = attr.bias ? layer.parameter(attr.bias_param, ".b_", {1, 3 * width}, dtype_of<T>,
                                               init::constant(0), line)
                             : -1;
  const auto gates = layer.template output<variable<T, R, 3 * width>>();
  const auto reset = layer.template output<state>();
  const auto next = layer.template output<state>();
  detail::without_gradient(layer, gates.id);
  detail::without_gradient(layer, reset.id);
  b.add_operator(schema_of<operators::gru_unit>(), {x.id, hidden.id, weight, bias},
                 {gates.id, reset.id, next.id},
                 b.attribute_list(static_cast<int>(attr.activation),
                                  static_cast<int>(attr.gate_activation), attr.origin_mode));
  return std::tuple{layer.returns(next), reset, gates};
}

}}}  // namespace lamina::layer
