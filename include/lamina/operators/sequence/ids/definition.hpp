// SPDX-License-Identifier: Apache-2.0
// lamina/operators/sequence/ids/definition.hpp - operators on sequences of integers: windows,
// removal of tokens, and additions at listed positions.
#pragma once

#include <lamina/core/config.hpp>

#include <lamina/operators/operator_definition.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace operators {

/// Out[t] = (X[t], X[t + 1], ..., X[t + win_size - 1]), where positions after the end of t's
/// sequence get pad_value. For X [rows, 1], Out is [rows, win_size]. There is no gradient. Fluid:
/// sequence_enumerate.
struct sequence_enumerate : operator_definition {
  static constexpr const char* type = "sequence_enumerate";
  static constexpr auto inputs = slots_x;
  static constexpr auto outputs = slots_out;
  static constexpr std::array<attribute_desc, 2> attributes{
      {{"win_size", attribute_type::integer, 1}, {"pad_value", attribute_type::integer, 0}}};
};

/// Out = X without the rows whose value is among `tokens`; the sequences become shorter and may
/// become empty. There is no gradient. Fluid: sequence_erase.
struct sequence_erase : operator_definition {
  static constexpr const char* type = "sequence_erase";
  static constexpr auto inputs = slots_x;
  static constexpr auto outputs = slots_out;
  static constexpr std::array<attribute_desc, 1> attributes{{{"tokens", attribute_type::integers}}};
  static constexpr int made_levels = 1;
};

/// Out = X [rows, width] after the additions Out[s, Ids[t]] += Updates[t] for each row t of each
/// sequence s of Ids. Ids has one sequence per row of X. Ids and Updates are [tokens, 1]. Fluid:
/// sequence_scatter.
struct sequence_scatter : operator_definition {
  static constexpr const char* type = "sequence_scatter";
  static constexpr std::array<slot_desc, 3> inputs{{{"X"}, {"Ids"}, {"Updates"}}};
  static constexpr auto outputs = slots_out;
  static constexpr std::uint32_t differentiable = 5;
  static constexpr std::uint32_t gradient_inputs = 2;
};

using sequence_ids_operators = operator_list<sequence_enumerate, sequence_erase, sequence_scatter>;

}}}  // namespace lamina::operators
