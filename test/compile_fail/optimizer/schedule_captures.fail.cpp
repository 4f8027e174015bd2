// SPDX-License-Identifier: Apache-2.0
// A schedule whose function has a state.
// expect-error: deleted
// expect-fact: // expected a function of the step, a std::int64_t, without captures
// expect-lines: 12
#include <lamina/optimizer/sgd.hpp>

namespace optimizer = lamina::optimizer;
using lamina::schedule::custom;

int main() {
  double first = 0.1;
#ifdef SHOULD_FAIL
  const custom rate{[first](std::int64_t s) { return first / double(s + 1); }};  // <- here
#else
  const custom rate{[](std::int64_t s) { return 0.1 / static_cast<double>(s + 1); }};
#endif
  optimizer::sgd sgd{.learning_rate = rate};
  return sgd.learning_rate.at(0) > static_cast<float>(first);
}
