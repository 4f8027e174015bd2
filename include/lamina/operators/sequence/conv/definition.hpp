// SPDX-License-Identifier: Apache-2.0
// lamina/operators/sequence/conv/definition.hpp - convolutions over the rows of sequences.
#pragma once

#include <lamina/core/config.hpp>

#include <lamina/operators/operator_definition.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace operators {

/// Out[t] = sum_j X[t + contextStart + j] * Filter[j], 0 <= j < contextLength. Filter is
/// [contextLength * width, filters]; Filter[j] stands for its rows j * width to (j + 1) * width -
/// 1. Each sequence is convolved separately: rows before its begin and after its end are 0 or, with
/// paddingTrainable, rows of PaddingData. The first max(0, -contextStart) rows of PaddingData
/// precede the sequence, in order; the other max(0, contextStart + contextLength - 1) rows follow
/// the sequence, in order. contextStride must be 1. Fluid: sequence_conv.
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
/// the sequence of t. So each column is convolved separately, over the current and future rows.
/// Filter is [future + 1, width], where `future` is the number of future rows. Source: Amodei et
/// al. 2015 (Deep Speech 2), section 3.6. Fluid: row_conv.
struct row_conv : operator_definition {
  static constexpr const char* type = "row_conv";
  static constexpr std::array<slot_desc, 2> inputs{{{"X"}, {"Filter"}}};
  static constexpr auto outputs = slots_out;
  static constexpr std::uint32_t differentiable = 3;
  static constexpr std::uint32_t gradient_inputs = 3;
};

using sequence_conv_operators = operator_list<sequence_conv, row_conv>;

}}}  // namespace lamina::operators
