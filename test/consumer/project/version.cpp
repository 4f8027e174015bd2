// SPDX-License-Identifier: Apache-2.0
// The second of two translation units that include everything.
#include <string>

#include <everything.hpp>

std::string version() {
  return std::to_string(LAMINA_VERSION_MAJOR) + "." + std::to_string(LAMINA_VERSION_MINOR) + "." +
         std::to_string(LAMINA_VERSION_PATCH);
}
