// SPDX-License-Identifier: Apache-2.0
// Prints the numbers of wrong results of vectors on a processor that xsimd does not know.
// On this machine, LAMINA_PLAIN_VECTORS chooses these vectors too.
#if defined(__x86_64__)
#define LAMINA_PLAIN_VECTORS 16
#endif
#include "core/simd/plain_vector_checks.hpp"
#include "output.hpp"

int main() {
  long faults = 0;
  const auto print = [&](const char* name, long wrong) {
    faults += wrong;
    output::number(name, static_cast<float>(wrong));
  };
  plain_vector_checks::count_wrong_results<float>(print);
  plain_vector_checks::count_wrong_results<double>(print);
  return faults == 0 ? output::end() : 1;
}
