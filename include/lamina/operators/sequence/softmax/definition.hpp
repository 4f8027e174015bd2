// SPDX-License-Identifier: Apache-2.0
// lamina/operators/sequence/softmax/definition.hpp - the softmax over the rows of each sequence.
#pragma once

#include <lamina/core/config.hpp>

#include <lamina/operators/operator_definition.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace operators {

/// Out[t] = e^(X[t] - max) / sum e^(X - max), where max and sum are over the rows of t's sequence
/// in X's last LoD level. X is [rows, 1] or [rows]. Fluid: sequence_softmax.
struct sequence_softmax : operator_definition {
  static constexpr const char* type = "sequence_softmax";
  static constexpr auto inputs = slots_x;
  static constexpr auto outputs = slots_out;
  static constexpr std::uint32_t differentiable = 1;
  static constexpr std::uint32_t gradient_outputs = 1;
};

using sequence_softmax_operators = operator_list<sequence_softmax>;

}}}  // namespace lamina::operators
