// SPDX-License-Identifier: Apache-2.0
// Prints all operators of the library, one a line between tabs: type; whether it has a gradient;
// what the executor runs, and the compiled engine (gradients, values or -); whether export_onnx
// knows it. Gradient operators are part of the line of theirs.
#pragma once

namespace interop {

int print_operators();

}  // namespace interop
