// SPDX-License-Identifier: Apache-2.0
// lamina/operators/sequence/pad/definition.hpp - sequence_pad, its inverse sequence_unpad, and
// sequence_mask.
#pragma once

#include <lamina/core/config.hpp>

#include <lamina/operators/operator_definition.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace operators {

/// Out[s, t] = row t of sequence s of X's last LoD level, or PadValue after the end of the
/// sequence. Length[s] = the number of rows of the sequence. For X [rows, ...], Out is [sequences,
/// padded_length, ...]; padded_length -1 stands for the length of the longest sequence. PadValue is
/// a single number or as large as a row of X. The gradient reads only the shape and LoD of X.
/// Fluid: sequence_pad.
struct sequence_pad : operator_definition {
  static constexpr const char* type = "sequence_pad";
  static constexpr std::array<slot_desc, 2> inputs{{{"X"}, {"PadValue"}}};
  static constexpr std::array<slot_desc, 2> outputs{{{"Out"}, {"Length"}}};
  static constexpr std::array<attribute_desc, 1> attributes{
      {{"padded_length", attribute_type::integer, -1}}};
  static constexpr std::uint32_t differentiable = 1;
  static constexpr std::uint32_t gradient_inputs = 1;
};

/// The inverse of sequence_pad: sequence i of Out consists of the first Length[i] elements X[i, 0],
/// X[i, 1], ... of row i of X [rows, length, ...]. The gradient reads only the shape of X. Fluid:
/// sequence_unpad.
struct sequence_unpad : operator_definition {
  static constexpr const char* type = "sequence_unpad";
  static constexpr std::array<slot_desc, 2> inputs{{{"X"}, {"Length"}}};
  static constexpr auto outputs = slots_out;
  static constexpr std::uint32_t differentiable = 1;
  static constexpr std::uint32_t gradient_inputs = 3;
  static constexpr int made_levels = 1;
};

/// Y[..., j] = 1 if j < X[...], else 0, for all j below maxlen; maxlen -1 stands for the largest
/// element of X. There is no gradient, because X holds integers. Fluid: sequence_mask.
struct sequence_mask : operator_definition {
  static constexpr const char* type = "sequence_mask";
  static constexpr auto inputs = slots_x;
  static constexpr std::array<slot_desc, 1> outputs{{{"Y"}}};
  static constexpr std::array<attribute_desc, 2> attributes{
      {{"maxlen", attribute_type::integer, -1},
       {"out_dtype", attribute_type::integer, static_cast<int>(dtype::int64)}}};
};

using sequence_pad_operators = operator_list<sequence_pad, sequence_unpad, sequence_mask>;

}}}  // namespace lamina::operators
