// SPDX-License-Identifier: Apache-2.0
// Catches what the other file throws.
#include <cstdio>

#include <lamina/core/messages/error.hpp>

void fail();

int main() {
  try {
    fail();
  } catch (const lamina::error& e) {
    std::puts(e.what());
  }
}
