// SPDX-License-Identifier: Apache-2.0
// lamina/operators/recurrent/lstm_unit/definition.hpp - lstm_unit: one step of an lstm.
#pragma once

#include <lamina/core/config.hpp>

#include <lamina/operators/operator_definition.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace operators {

/// Computes one LSTM step for every row. X [N, 4D] holds i, f, o and g before their activation
/// functions; C_prev [N, D] is the previous cell; C and H [N, D] are the new cell and the hidden
/// state:
///   C = C_prev * sigmoid(f + forget_bias) + sigmoid(i) * tanh(g)      H = tanh(C) * sigmoid(o)
/// Fluid: lstm_unit.
struct lstm_unit : operator_definition {
  static constexpr const char* type = "lstm_unit";
  static constexpr std::array<slot_desc, 2> inputs{{{"X"}, {"C_prev"}}};
  static constexpr std::array<slot_desc, 2> outputs{{{"C"}, {"H"}}};
  static constexpr std::array<attribute_desc, 1> attributes{
      {{"forget_bias", attribute_type::real, 0}}};
  static constexpr std::uint32_t differentiable = 3;
  static constexpr std::uint32_t gradient_inputs = 3;
  static constexpr std::uint32_t gradient_outputs = 1;
  static constexpr std::uint32_t gradient_of_outputs = 3;
};

using recurrent_lstm_unit_operators = operator_list<lstm_unit>;

}}}  // namespace lamina::operators
