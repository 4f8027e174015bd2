// SPDX-License-Identifier: Apache-2.0
// lamina/executor/kernel_table.hpp - kernels by Fluid's name of the operator.
#pragma once

#include <lamina/core/config.hpp>

#include <map>
#include <string_view>

#include <lamina/executor/call_context.hpp>

namespace lamina { inline namespace LAMINA_ABI {

/// Kernels by operator type; the names must outlive the table.
template <class Real>
using kernel_table = std::map<std::string_view, kernel_function<Real>>;

}}  // namespace lamina
