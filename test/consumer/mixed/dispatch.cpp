// SPDX-License-Identifier: Apache-2.0
// Calls the functions of two instruction sets; either may be absent.
#include <cstdio>

extern "C" {
__attribute__((weak)) double score_old();
__attribute__((weak)) double score_new();
}

int main() {
  if (score_old != nullptr) std::printf("old %a\n", score_old());
  if (score_new != nullptr) std::printf("new %a\n", score_new());
}
