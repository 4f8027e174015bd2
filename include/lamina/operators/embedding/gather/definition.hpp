// SPDX-License-Identifier: Apache-2.0
// lamina/operators/embedding/gather/definition.hpp - rows that an index chooses.
#pragma once

#include <lamina/core/config.hpp>

#include <lamina/operators/operator_definition.hpp>

namespace lamina::inline LAMINA_ABI {

/// Out[i] = X[Index[i]]: rows of dimension 0. Fluid: gather. The gradient adds each row of Out@GRAD
/// to its source row; it reads X for its shape only.
struct gather : operator_definition {
  static constexpr const char* type = "gather";
  static constexpr std::array<slot_desc, 2> inputs{{{"X"}, {"Index"}}};
  static constexpr auto outputs = slots_out;
  static constexpr std::uint32_t differentiable = 1;
  static constexpr std::uint32_t gradient_inputs = 3;
  static constexpr bool accepts_any_rows = true;
  static constexpr std::uint32_t apart_inputs = 1;
};

/// Out = X with entries of dimension 0 replaced: Out[Ids[i]] = Updates[i], where the last of equal
/// Ids counts. Without `overwrite` the sum of all Updates[i] of an id replaces the entry of X.
/// Fluid: scatter. X has no gradient in replaced entries, and an update that a later one replaces
/// has none.
struct scatter : operator_definition {
  static constexpr const char* type = "scatter";
  static constexpr std::array<slot_desc, 3> inputs{{{"X"}, {"Ids"}, {"Updates"}}};
  static constexpr auto outputs = slots_out;
  static constexpr std::array<attribute_desc, 1> attributes{
      {{"overwrite", attribute_type::boolean, 1}}};
  static constexpr std::uint32_t differentiable = 5;
  static constexpr std::uint32_t gradient_inputs = 6;
  static constexpr bool accepts_any_rows = true;
};

/// Out[i] = X[Ids[i]][i]: each row comes from one of the variables of X.
/// Fluid: multiplex.
struct multiplex : operator_definition {
  static constexpr const char* type = "multiplex";
  static constexpr std::array<slot_desc, 2> inputs{{{"Ids"}, {"X", true}}};
  static constexpr auto outputs = slots_out;
  static constexpr std::uint32_t differentiable = 2;
  static constexpr std::uint32_t gradient_inputs = 1;
};

using embedding_gather_operators = operator_list<gather, scatter, multiplex>;

}  // namespace lamina::inline LAMINA_ABI
