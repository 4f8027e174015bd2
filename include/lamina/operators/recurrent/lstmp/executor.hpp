// SPDX-License-Identifier: Apache-2.0
// lamina/operators/recurrent/lstmp/executor.hpp - lstmp: an lstm that projects its hidden state.
#pragma once

#include <lamina/core/config.hpp>

#include <lamina/executor/kernel_table.hpp>
#include <lamina/operators/recurrent/lstm/executor.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace kernel {

template <class Real>
void add_lstmp_kernels(kernel_table<Real>& table) {
  table["lstmp"] = lstm_forward<Real>;
  table["lstmp_grad"] = lstm_gradient<Real>;
}

}}}  // namespace lamina::kernel
