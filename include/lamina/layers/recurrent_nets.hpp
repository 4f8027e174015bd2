// SPDX-License-Identifier: Apache-2.0
// lamina/layers/recurrent_nets.hpp - recurrent layers with the products of their inputs, in one
// direction or in both. Source: the networks of PaddlePaddle v2.
#pragma once

#include <lamina/core/config.hpp>

#include <lamina/operators/matrix/fc/layer.hpp>
#include <lamina/operators/recurrent/gru/layer.hpp>
#include <lamina/operators/recurrent/lstm/layer.hpp>
#include <lamina/operators/sequence/pool/layer.hpp>
#include <lamina/operators/shape/concat/layer_concat.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace layer {

/// Options of simple_lstm and simple_gru.
struct simple_rnn_attr {
  bool is_reverse = false;  // whether it runs from the last element of each sequence to the first
  recurrent_activation gate_activation = recurrent_activation::sigmoid;
  recurrent_activation activation = recurrent_activation::tanh;  // of the candidates, and of the
                                                                 // cells of an LSTM
  param_attr param{};                                            // options of the input's weight
  param_attr recurrent_param{};                                  // options of the recurrent weight
  param_attr bias_param{};                                       // options of the recurrent bias
  std::string_view name{};
};

/// Options of bidirectional_lstm and bidirectional_gru, for each direction.
struct bidirectional_attr {
  param_attr forward_param{}, backward_param{};                      // of the input's weights
  param_attr forward_recurrent_param{}, backward_recurrent_param{};  // of the recurrent weights
  param_attr forward_bias_param{}, backward_bias_param{};            // of the recurrent biases
  std::string_view name{};
};

/// An LSTM with peepholes; its gates are computed from fc<4 * Size>(x) without a bias. Returns the
/// hidden states, a row [Size] per element. v2: simple_lstm.
template <int Size, class T, class R, int... D>
constexpr auto simple_lstm(variable<T, R, D...> x, const options<simple_rnn_attr, T>& attr = {},
                           int line = __builtin_LINE()) {
  const auto gates = fc<4 * Size>(x, {.param = attr.param, .bias = false}, line);
  return std::get<0>(dynamic_lstm<4 * Size>(gates,
                                            {.is_reverse = attr.is_reverse,
                                             .gate_activation = attr.gate_activation,
                                             .cell_activation = attr.activation,
                                             .candidate_activation = attr.activation,
                                             .param = attr.recurrent_param,
                                             .bias_param = attr.bias_param,
                                             .name = attr.name},
                                            line));
}
#ifdef LAMINA_NAMES_OPTIONS
template <any_value...>
constexpr no_match<simple_rnn_attr> simple_lstm(...) = delete;  // call simple_lstm<32>(x)
#endif

/// A GRU; its gates are computed from fc<3 * Size>(x) without a bias. Returns the states, a row
/// [Size] per element. v2: simple_gru.
template <int Size, class T, class R, int... D>
constexpr auto simple_gru(variable<T, R, D...> x, const options<simple_rnn_attr, T>& attr = {},
                          int line = __builtin_LINE()) {
  const auto gates = fc<3 * Size>(x, {.param = attr.param, .bias = false}, line);
  return dynamic_gru<Size>(gates,
                           {.is_reverse = attr.is_reverse,
                            .gate_activation = attr.gate_activation,
                            .candidate_activation = attr.activation,
                            .param = attr.recurrent_param,
                            .bias_param = attr.bias_param,
                            .name = attr.name},
                           line);
}
#ifdef LAMINA_NAMES_OPTIONS
template <any_value...>
constexpr no_match<simple_rnn_attr> simple_gru(...) = delete;  // call simple_gru<32>(x)
#endif

namespace detail {

/// Concatenates the results of both directions: with WholeSequence the states of each element,
/// otherwise the last state of each direction.
template <bool WholeSequence, class V>
constexpr auto concat_directions(V forward, V backward, std::string_view name, int line) {
  if constexpr (WholeSequence)
    return concat({forward, backward}, {.name = name}, line);
  else
    return concat({sequence_last_step(forward), sequence_first_step(backward)}, {.name = name},
                  line);
}

constexpr simple_rnn_attr direction(const bidirectional_attr& attr, bool backwards) {
  return {
      .is_reverse = backwards,
      .param = backwards ? attr.backward_param : attr.forward_param,
      .recurrent_param = backwards ? attr.backward_recurrent_param : attr.forward_recurrent_param,
      .bias_param = backwards ? attr.backward_bias_param : attr.forward_bias_param};
}

}  // namespace detail

/// Two simple_lstm of width Size, one in each direction. The result has one row [2 * Size] per
/// sequence: the forward state after the last element, followed by the backward state after the
/// first element. With WholeSequence, the result has one row [2 * Size] per element. v2:
/// bidirectional_lstm(return_seq).
template <int Size, bool WholeSequence = false, class T, class R, int... D>
constexpr auto bidirectional_lstm(variable<T, R, D...> x,
                                  const options<bidirectional_attr, T>& attr = {},
                                  int line = __builtin_LINE()) {
  return detail::concat_directions<WholeSequence>(
      simple_lstm<Size>(x, detail::direction(attr, false), line),
      simple_lstm<Size>(x, detail::direction(attr, true), line), attr.name, line);
}

/// Two simple_gru of width Size, one in each direction. The result has the shape of the result of
/// bidirectional_lstm. v2: bidirectional_gru(return_seq).
template <int Size, bool WholeSequence = false, class T, class R, int... D>
constexpr auto bidirectional_gru(variable<T, R, D...> x,
                                 const options<bidirectional_attr, T>& attr = {},
                                 int line = __builtin_LINE()) {
  return detail::concat_directions<WholeSequence>(
      simple_gru<Size>(x, detail::direction(attr, false), line),
      simple_gru<Size>(x, detail::direction(attr, true), line), attr.name, line);
}

}}}  // namespace lamina::layer
