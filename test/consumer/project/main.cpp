// SPDX-License-Identifier: Apache-2.0
// The first of two translation units that include everything.
#include <iostream>
#include <string>

#include <everything.hpp>

std::string version();

int main() { std::cout << "lamina " << version() << '\n'; }
