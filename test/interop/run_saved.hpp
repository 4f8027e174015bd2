// SPDX-License-Identifier: Apache-2.0
// Runs programs that another library saved.
#pragma once

#include <string>

namespace interop {

/// Runs each case in a folder on the executor, prints what differs; 0 when nothing does but what
/// the file `differences` explains.
int run_saved(const std::string& folder, const std::string& differences);

}  // namespace interop
