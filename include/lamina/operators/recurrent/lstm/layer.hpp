// SPDX-License-Identifier: Apache-2.0
// lamina/operators/recurrent/lstm/layer.hpp - lstm: long short-term memory over sequences; lstmp:
// an lstm that projects its hidden state.
#pragma once

#include <lamina/core/config.hpp>

#include <tuple>

#include <lamina/operators/recurrent/layer.hpp>
#include <lamina/operators/recurrent/lstm/definition.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace layer {

/// Options of dynamic_lstm.
struct dynamic_lstm_attr {
  bool use_peepholes = true;  // the gates also read the cell
  bool is_reverse = false;    // steps run from the last element of each sequence
  recurrent_activation gate_activation = recurrent_activation::sigmoid;
  recurrent_activation cell_activation = recurrent_activation::tanh;
  recurrent_activation candidate_activation = recurrent_activation::tanh;
  param_attr param{};       // attributes of the weight
  param_attr bias_param{};  // attributes of the bias and the peepholes
  std::string_view name{};
};

namespace detail {

template <int Width, class V>
struct lstm_of;
template <int Width, class T, class R, int... D>
struct lstm_of<Width, variable<T, R, D...>> {
  using state = variable<T, R, Width>;

  static constexpr auto record(variable<T, R, D...> x, int h_0, int c_0,
                               const dynamic_lstm_attr& attr, int line) {
    program_builder& b = *x.builder;
    layer_helper layer(b, "lstm", attr.name);
    const int weight =
        layer.parameter(attr.param, ".w_", {Width, 4 * Width}, dtype_of<T>, init::xavier(), line);
    const int bias =
        layer.parameter(attr.bias_param, ".b_", {1, (attr.use_peepholes ? 7 : 4) * Width},
                        dtype_of<T>, init::constant(0), line);
    const auto hidden = layer.template output<state>();
    const auto cell = layer.template output<state>();
    const auto gates = layer.template output<variable<T, R, 4 * Width>>();
    const auto activated = layer.template output<state>();
    without_gradient(layer, gates.id);
    without_gradient(layer, activated.id);
    const attribute_value gate = text_of(b, attr.gate_activation);
    const attribute_value of_cell = text_of(b, attr.cell_activation);
    const attribute_value candidate = text_of(b, attr.candidate_activation);
    b.add_operator(schema_of<operators::lstm>(), {x.id, h_0, c_0, weight, bias},
                   {hidden.id, cell.id, gates.id, activated.id},
                   b.attribute_list(attr.use_peepholes, attr.is_reverse, gate, of_cell, candidate));
    return std::tuple{layer.returns(hidden), cell};
  }
};

}  // namespace detail

/// Runs an LSTM over each sequence of x and returns the hidden state and the cell of each step,
/// both [-1, Size / 4] with the rows of x: `auto [hidden, cell] = dynamic_lstm<4 * 128>(fc<4 *
/// 128>(words))`. x [-1, Size] must be the product of the inputs with their weights, usually an fc,
/// because the layer multiplies only the hidden state. operators/recurrent/lstm/definition.hpp has
/// the equations. The layer has a weight [Size / 4, Size], initialised by Xavier, and a bias,
/// initialised with zeros: [1, Size] or, with peepholes, [1, 7 * Size / 4]. Fluid:
/// layers.dynamic_lstm.
template <int Size, class T, class R, int... D>
constexpr auto dynamic_lstm(variable<T, R, D...> x, const options<dynamic_lstm_attr, T>& attr = {},
                            int line = __builtin_LINE()) {
  using in = variable<T, R, D...>;
  static_assert(check<(Size >= 4 && Size % 4 == 0), gets<Size>>,
                "lamina: recurrent: the size is positive, and of all gates together a multiple of "
                "their number");
  static_assert(check<is_tokens<R>, gets_type<in>>,
                "lamina: recurrent: the rows of the input form sequences");
  static_assert(
      check<(!is_tokens<R> || detail::is_real_row<in, Size>), expects<Size>, gets_type<in>>,
      "lamina: recurrent: the input is a row of floating point numbers for all gates");
  return detail::lstm_of<detail::gate_width<Size, 4>, in>::record(x, -1, -1, attr, line);
}

/// A dynamic_lstm with initial states: the hidden state h_0 and the cell c_0 have one row [Size /
/// 4] per sequence.
template <int Size, class T, class R, int... D, class H, class HR, int... HD, class C, class CR,
          int... CD>
constexpr auto dynamic_lstm(variable<T, R, D...> x, variable<H, HR, HD...> h_0,
                            variable<C, CR, CD...> c_0,
                            const options<dynamic_lstm_attr, T>& attr = {},
                            int line = __builtin_LINE()) {
  using in = variable<T, R, D...>;
  constexpr int width = detail::gate_width<Size, 4>;
  using state = variable<T, parent_rows<R>, width>;
  static_assert(check<(Size >= 4 && Size % 4 == 0), gets<Size>>,
                "lamina: recurrent: the size is positive, and of all gates together a multiple of "
                "their number");
  static_assert(check<is_tokens<R>, gets_type<in>>,
                "lamina: recurrent: the rows of the input form sequences");
  static_assert(
      check<(!is_tokens<R> || detail::is_real_row<in, Size>), expects<Size>, gets_type<in>>,
      "lamina: recurrent: the input is a row of floating point numbers for all gates");
  static_assert(
      check<(!is_tokens<R> || (__is_same(decltype(h_0), state) && __is_same(decltype(c_0), state))),
            expects_type<state>, gets_type<decltype(h_0), decltype(c_0)>>,
      "lamina: recurrent: an initial state has one row for each sequence, of the width "
      "of the state");
  require_one_program(x, h_0, line);
  require_one_program(x, c_0, line);
  return detail::lstm_of<width, in>::record(x, h_0.id, c_0.id, attr, line);
}

#ifdef LAMINA_NAMES_OPTIONS
template <any_value...>
constexpr no_match<dynamic_lstm_attr> dynamic_lstm(...) = delete;  // call dynamic_lstm<4 * 32>(x)
#endif

/// Options of dynamic_lstmp.
struct dynamic_lstmp_attr {
  bool use_peepholes = true;  // the gates also read the cell
  bool is_reverse = false;    // steps run from the last element of each sequence
  recurrent_activation gate_activation = recurrent_activation::sigmoid;
  recurrent_activation cell_activation = recurrent_activation::tanh;
  recurrent_activation candidate_activation = recurrent_activation::tanh;
  recurrent_activation proj_activation = recurrent_activation::tanh;
  float cell_clip = 0;      // limit of absolute cell values; 0: no limit
  float proj_clip = 0;      // limit of absolute projection values; 0: no limit
  param_attr param{};       // attributes of the weight
  param_attr proj_param{};  // attributes of the projection's weight
  param_attr bias_param{};  // attributes of the bias and the peepholes
  std::string_view name{};
};

namespace detail {

template <int Width, int Projected, class V>
struct lstmp_of;
template <int Width, int Projected, class T, class R, int... D>
struct lstmp_of<Width, Projected, variable<T, R, D...>> {
  using state = variable<T, R, Width>;
  using projected = variable<T, R, Projected>;

  static constexpr auto record(variable<T, R, D...> x, int h_0, int c_0,
                               const dynamic_lstmp_attr& attr, int line) {
    program_builder& b = *x.builder;
    b.require_option(attr.cell_clip >= 0, line, "dynamic_lstmp: cell_clip >= 0");
    b.require_option(attr.proj_clip >= 0, line, "dynamic_lstmp: proj_clip >= 0");
    layer_helper layer(b, "lstmp", attr.name);
    const int weight = layer.parameter(attr.param, ".w_", {Projected, 4 * Width}, dtype_of<T>,
                                       init::xavier(), line);
    const int proj_weight = layer.parameter(attr.proj_param, ".w_", {Width, Projected}, dtype_of<T>,
                                            init::xavier(), line);
    const int bias =
        layer.parameter(attr.bias_param, ".b_", {1, (attr.use_peepholes ? 7 : 4) * Width},
                        dtype_of<T>, init::constant(0), line);
    const auto projection = layer.template output<projected>();
    const auto cell = layer.template output<state>();
    const int hidden = layer.template output<state>().id;
    const int gates = layer.template output<variable<T, R, 4 * Width>>().id;
    const int activated = layer.template output<state>().id;
    for (int v : {hidden, gates, activated}) without_gradient(layer, v);
    const attribute_value gate = text_of(b, attr.gate_activation);
    const attribute_value of_cell = text_of(b, attr.cell_activation);
    const attribute_value candidate = text_of(b, attr.candidate_activation);
    const attribute_value of_projection = text_of(b, attr.proj_activation);
    b.add_operator(schema_of<operators::lstmp>(), {x.id, h_0, c_0, weight, proj_weight, bias},
                   {projection.id, cell.id, gates, activated, hidden},
                   b.attribute_list(attr.use_peepholes, attr.is_reverse, attr.cell_clip,
                                    attr.proj_clip, gate, of_cell, candidate, of_projection));
    return std::tuple{layer.returns(projection), cell};
  }
};

}  // namespace detail

/// Runs an LSTM over each sequence of x. Each step multiplies the hidden state by a projection
/// weight, and the next step reads this projection of width Projected instead of the hidden state:
/// `auto [projection, cell] = dynamic_lstmp<4 * 512, 128>(fc<4 * 512>(words))`. Returns the
/// projection [-1, Projected] and the cell [-1, Size / 4] of each step, with the rows of x. x [-1,
/// Size] must be the product of the inputs with their weights, usually an fc.
/// operators/recurrent/lstm/definition.hpp has the equations. The layer has weights [Projected,
/// Size] and [Size / 4, Projected], initialised by Xavier, and a bias as in dynamic_lstm. Fluid:
/// layers.dynamic_lstmp.
template <int Size, int Projected, class T, class R, int... D>
constexpr auto dynamic_lstmp(variable<T, R, D...> x,
                             const options<dynamic_lstmp_attr, T>& attr = {},
                             int line = __builtin_LINE()) {
  using in = variable<T, R, D...>;
  static_assert(check<(Size >= 4 && Size % 4 == 0 && (Projected > 0)), gets<Size, Projected>>,
                "lamina: recurrent: the size is positive, and of all gates together a multiple of "
                "their number");
  static_assert(check<is_tokens<R>, gets_type<in>>,
                "lamina: recurrent: the rows of the input form sequences");
  static_assert(
      check<(!is_tokens<R> || detail::is_real_row<in, Size>), expects<Size>, gets_type<in>>,
      "lamina: recurrent: the input is a row of floating point numbers for all gates");
  return detail::lstmp_of<detail::gate_width<Size, 4>, detail::gate_width<Projected, 1>,
                          in>::record(x, -1, -1, attr, line);
}

/// A dynamic_lstmp with initial states: the projection h_0 has one row [Projected] and the cell c_0
/// one row [Size / 4] per sequence.
template <int Size, int Projected, class T, class R, int... D, class H, class HR, int... HD,
          class C, class CR, int... CD>
constexpr auto dynamic_lstmp(variable<T, R, D...> x, variable<H, HR, HD...> h_0,
                             variable<C, CR, CD...> c_0,
                             const options<dynamic_lstmp_attr, T>& attr = {},
                             int line = __builtin_LINE()) {
  using in = variable<T, R, D...>;
  constexpr int width = detail::gate_width<Size, 4>;
  constexpr int projected = detail::gate_width<Projected, 1>;
  using first = variable<T, parent_rows<R>, projected>;
  using second = variable<T, parent_rows<R>, width>;
  static_assert(check<(Size >= 4 && Size % 4 == 0 && (Projected > 0)), gets<Size, Projected>>,
                "lamina: recurrent: the size is positive, and of all gates together a multiple of "
                "their number");
  static_assert(check<is_tokens<R>, gets_type<in>>,
                "lamina: recurrent: the rows of the input form sequences");
  static_assert(
      check<(!is_tokens<R> || detail::is_real_row<in, Size>), expects<Size>, gets_type<in>>,
      "lamina: recurrent: the input is a row of floating point numbers for all gates");
  static_assert(check<(!is_tokens<R> ||
                       (__is_same(decltype(h_0), first) && __is_same(decltype(c_0), second))),
                      expects_type<first, second>, gets_type<decltype(h_0), decltype(c_0)>>,
                "lamina: recurrent: an initial state has one row for each sequence, of the width "
                "of the state");
  require_one_program(x, h_0, line);
  require_one_program(x, c_0, line);
  return detail::lstmp_of<width, projected, in>::record(x, h_0.id, c_0.id, attr, line);
}

}}}  // namespace lamina::layer
