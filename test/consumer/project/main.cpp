// SPDX-License-Identifier: Apache-2.0
// Says the version of lamina.
#include <lamina/core/config.hpp>

#include <iostream>

int main() {
  std::cout << "lamina " << LAMINA_VERSION_MAJOR << '.' << LAMINA_VERSION_MINOR << '.'
            << LAMINA_VERSION_PATCH << '\n';
}
