// SPDX-License-Identifier: Apache-2.0
// lamina/operators/embedding/selected_rows/definition.hpp - operators on sparse gradients, which
// store only some of the rows.
#pragma once

#include <lamina/core/config.hpp>

#include <lamina/operators/operator_definition.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace operators {

/// Out = X[0] + X[1] + ..., where all inputs are selected_rows. Each row that occurs in at least
/// one input occurs once in Out. Fluid: sum.
struct selected_rows_sum : operator_definition {
  static constexpr const char* type = "sum";
  static constexpr std::array<slot_desc, 1> inputs{{{"X", true}}};
  static constexpr auto outputs = slots_out;
  static constexpr auto linear = linearity::linear;
};

/// Out = X[0] + X[1] + ..., where some inputs are selected_rows and others are dense. Out is dense.
/// Fluid: sum.
struct mixed_rows_sum : selected_rows_sum {};

}}}  // namespace lamina::operators
