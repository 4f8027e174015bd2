// SPDX-License-Identifier: Apache-2.0
// A function in place of a schedule.
// expect-error: deleted
// expect-fact: // expected a number or a schedule
// expect-lines: 12
#include <lamina/optimizer/sgd.hpp>

namespace optimizer = lamina::optimizer;

double rate(std::int64_t step) { return 0.1 / static_cast<double>(step + 1); }

int main() {
#ifdef SHOULD_FAIL
  optimizer::sgd sgd{.learning_rate = rate};  // <- here
#else
  optimizer::sgd sgd{.learning_rate =
                         lamina::schedule::custom{[](std::int64_t s) { return rate(s); }}};
#endif
  return sgd.learning_rate.at(0) > 1;
}
