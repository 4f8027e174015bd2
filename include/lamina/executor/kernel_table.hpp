// SPDX-License-Identifier: Apache-2.0
// lamina/executor/kernel_table.hpp - a table of kernels, with Fluid's names of the operators as
// keys.
#pragma once

#include <lamina/core/config.hpp>

#include <map>
#include <string_view>

#include <lamina/executor/call_context.hpp>

namespace lamina { inline namespace LAMINA_ABI {

/// Maps the type of an operator to its kernel. The table does not copy the characters of the types,
/// so they must outlive the table.
template <class Real>
using kernel_table = std::map<std::string_view, kernel_function<Real>>;

}}  // namespace lamina
