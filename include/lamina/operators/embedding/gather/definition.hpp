// SPDX-License-Identifier: Apache-2.0
// lamina/operators/embedding/gather/definition.hpp - operators that copy the rows that an index
// selects.
#pragma once

#include <lamina/core/config.hpp>

#include <lamina/operators/operator_definition.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace operators {

/// Out[i] = X[Index[i]], along dimension 0. The gradient adds row i of Out@GRAD to row Index[i] of
/// X@GRAD, and reads only the shape of X. Fluid: gather.
struct gather : operator_definition {
  static constexpr const char* type = "gather";
  static constexpr std::array<slot_desc, 2> inputs{{{"X"}, {"Index"}}};
  static constexpr auto outputs = slots_out;
  static constexpr std::uint32_t differentiable = 1;
  static constexpr std::uint32_t gradient_inputs = 3;
  static constexpr bool accepts_any_rows = true;
  static constexpr std::uint32_t apart_inputs = 1;
  static constexpr auto meets_rows = row_meeting::with_first_rows;
};

/// Out = X, except that Out[Ids[i]] = Updates[i], along dimension 0. If an id occurs several times,
/// the last of its updates is used or, if `overwrite` is false, the sum of its updates. The
/// gradient is 0 for replaced entries of X and for updates that are not used. Fluid: scatter.
struct scatter : operator_definition {
  static constexpr const char* type = "scatter";
  static constexpr std::array<slot_desc, 3> inputs{{{"X"}, {"Ids"}, {"Updates"}}};
  static constexpr auto outputs = slots_out;
  static constexpr std::array<attribute_desc, 1> attributes{
      {{"overwrite", attribute_type::boolean, 1}}};
  static constexpr std::uint32_t differentiable = 5;
  static constexpr std::uint32_t gradient_inputs = 6;
  static constexpr bool accepts_any_rows = true;
  static constexpr auto meets_rows = row_meeting::with_first_rows;
};

/// Out[i] = X[Ids[i]][i]: Ids selects the input variable from which each row is copied. Fluid:
/// multiplex.
struct multiplex : operator_definition {
  static constexpr const char* type = "multiplex";
  static constexpr std::array<slot_desc, 2> inputs{{{"Ids"}, {"X", true}}};
  static constexpr auto outputs = slots_out;
  static constexpr std::uint32_t differentiable = 2;
  static constexpr std::uint32_t gradient_inputs = 1;
};

using embedding_gather_operators = operator_list<gather, scatter, multiplex>;

}}}  // namespace lamina::operators
