// SPDX-License-Identifier: Apache-2.0
// The cases as C++: `interop_cases native FOLDER` writes FOLDER/native.cpp, whose programs were
// made from the files of the cases, and FOLDER/native.tsv, a line a case: its name, and why it is
// not among them. native.cpp compares what they compute with what the files do (native_check.hpp).
#pragma once

#include <string>

namespace interop {

int write_native_cases(const std::string& folder);

}  // namespace interop
