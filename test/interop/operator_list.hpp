// SPDX-License-Identifier: Apache-2.0
// Prints all operators of the library, one a line with a tab: type; whether it has a gradient.
// Gradient operators are part of the line of theirs.
#pragma once

namespace interop {

int print_operators();

}  // namespace interop
