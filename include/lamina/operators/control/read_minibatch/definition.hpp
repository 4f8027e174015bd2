// SPDX-License-Identifier: Apache-2.0
// lamina/operators/control/read_minibatch/definition.hpp - reads the next mini-batch while a
// program runs.
#pragma once

#include <lamina/core/config.hpp>

#include <lamina/operators/operator_definition.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace operators {

/// Reads the next mini-batch from the reader that the caller passed to the run. Out lists the data
/// variables that receive the fields of the samples. More, bool [1], tells whether another
/// mini-batch follows. Fluid: read.
struct read_minibatch : operator_definition {
  static constexpr const char* type = "read_minibatch";
  static constexpr std::array<slot_desc, 0> inputs{};
  static constexpr std::array<slot_desc, 2> outputs{{{"Out", true}, {"More"}}};
  static constexpr bool has_side_effect = true;
  static constexpr bool reads_minibatch = true;
  static constexpr auto host = host_rule::inputs;
  static constexpr bool host_takes_part = true;
};

using control_read_minibatch_operators = operator_list<read_minibatch>;

}}}  // namespace lamina::operators
