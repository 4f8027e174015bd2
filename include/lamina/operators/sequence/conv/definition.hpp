// SPDX-License-Identifier: Apache-2.0
// lamina/operators/sequence/conv/definition.hpp - convolutions over the rows of sequences.
#pragma once

#include <lamina/core/config.hpp>

#include <lamina/operators/operator_definition.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace operators {

/// Out[t] = sum_j X[t + contextStart + j] * Filter[j], 0 <= j < contextLength. Each window of rows
/// of t's sequence is multiplied by Filter [contextLength * width, filters], whose rows from j *
/// width on belong to row j of the window. Rows beyond the ends of the sequence are 0 or, with
/// paddingTrainable, rows of PaddingData. PaddingData holds first the max(0, -contextStart) rows
/// before the sequence, nearest last, and then the max(0, contextStart + contextLength - 1) rows
/// after the sequence, nearest first. contextStride is 1. Fluid: sequence_conv.
struct sequence_conv : operator_definition {
  static constexpr const char* type = "sequence_conv";
  static constexpr std::array<slot_desc, 3> inputs{
      {{"X"}, {"PaddingData", false, true}, {"Filter"}}};
  static constexpr auto outputs = slots_out;
  static constexpr std::array<attribute_desc, 4> attributes{
      {{"contextLength", attribute_type::integer, 0},
       {"contextStart", attribute_type::integer, 0},
       {"contextStride", attribute_type::integer, 1},
       {"paddingTrainable", attribute_type::boolean, 0}}};
  static constexpr std::uint32_t differentiable = 7;
  static constexpr std::uint32_t gradient_inputs = 7;
  static constexpr auto products = product_rule::sequence_filter;
};

/// Out[t] = sum_j X[t + j] * Filter[j], elementwise, for 0 <= j < rows of Filter and t + j inside
/// the sequence of t. So each column is a separate convolution over the current and future rows.
/// Filter is [future + 1, width]. Fluid: row_conv, from Deep Speech 2 (Amodei et al., 2015, section
/// 3.6).
struct row_conv : operator_definition {
  static constexpr const char* type = "row_conv";
  static constexpr std::array<slot_desc, 2> inputs{{{"X"}, {"Filter"}}};
  static constexpr auto outputs = slots_out;
  static constexpr std::uint32_t differentiable = 3;
  static constexpr std::uint32_t gradient_inputs = 3;
};

using sequence_conv_operators = operator_list<sequence_conv, row_conv>;

}}}  // namespace lamina::operators
