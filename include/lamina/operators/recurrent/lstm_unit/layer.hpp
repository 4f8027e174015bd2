// SPDX-License-Identifier: Apache-2.0
// lamina/operators/recurrent/lstm_unit/layer.hpp - one step of a long short-term memory.
#pragma once

#include <lamina/core/config.hpp>

#include <tuple>

#include <lamina/operators/matrix/fc/layer.hpp>
#include <lamina/operators/recurrent/layer.hpp>
#include <lamina/operators/recurrent/lstm/definition.hpp>
#include <lamina/operators/recurrent/lstm_unit/definition.hpp>
#include <lamina/operators/shape/concat/layer_concat.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace layer {

/// Options of lstm_unit.
struct lstm_unit_attr {
  float forget_bias = 0;    // added to the forget gate before its activation
  param_attr param{};       // attributes of the weight
  bool bias = true;         // false: no bias
  param_attr bias_param{};  // attributes of the bias
  std::string_view name{};
};

/// Computes one step of an LSTM in every row, from an input x of any width and the previous states,
/// and returns the new states: `auto [hidden, cell] = lstm_unit(x, hidden_before, cell_before)`.
/// The layer concatenates x and hidden, applies an fc with 4 times the width of the states, and
/// then the operator lstm_unit; operators/recurrent/lstm_unit/definition.hpp has the equations. The
/// parameters are the weight and the bias of the fc. Source: Zaremba et al. 2014. Fluid:
/// layers.lstm_unit.
template <class T, class R, int... D, class H, class HR, int... HD, class C, class CR, int... CD>
constexpr auto lstm_unit(variable<T, R, D...> x, variable<H, HR, HD...> hidden,
                         variable<C, CR, CD...> cell, const options<lstm_unit_attr, T>& attr = {},
                         int line = __builtin_LINE()) {
  using in = variable<T, R, D...>;
  constexpr int width = (CD * ... * 1);
  using state = variable<T, R, width>;
  constexpr bool is_row = detail::is_real<T> && sizeof...(D) == 1;
  constexpr bool fits = __is_same(decltype(hidden), state) && __is_same(decltype(cell), state);
  static_assert(check<is_row, gets_type<in>>,
                "lamina: lstm_unit: the input is a row of floating point numbers");
  static_assert(
      check<(!is_row || fits), expects_type<state>, gets_type<decltype(hidden), decltype(cell)>>,
      "lamina: lstm_unit: hidden and cell have the rows of the input and one width");
  require_one_program(x, hidden, line);
  require_one_program(x, cell, line);
  program_builder& b = *x.builder;
  int gates = x.id;
  if constexpr (is_row && fits)
    gates =
        fc<4 * width>(concat(std::tuple{x, hidden}),
                      {.param = attr.param, .bias = attr.bias, .bias_param = attr.bias_param}, line)
            .id;
  layer_helper layer(b, "lstm_unit", attr.name);
  const auto next_cell = layer.template output<state>();
  const auto next_hidden = layer.template output<state>();
  b.add_operator(schema_of<operators::lstm_unit>(), {gates, cell.id},
                 {next_cell.id, next_hidden.id}, b.attribute_list(attr.forget_bias));
  return std::tuple{layer.returns(next_hidden), next_cell};
}

}}}  // namespace lamina::layer
