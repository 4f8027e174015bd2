// SPDX-License-Identifier: Apache-2.0
// A text in place of the limit of a clip.
// expect-error[gcc]: use of deleted function
// expect-fact[gcc]: // expected a number, clip_by_global_norm
// expect-error[clang]: cannot initialize a parameter of type 'float' with an lvalue of type 'const
// expect-lines: 12
#include <lamina/optimizer/sgd.hpp>

namespace optimizer = lamina::optimizer;

int main() {
#ifdef SHOULD_FAIL
  optimizer::sgd sgd{.clip = lamina::clip_by_global_norm("1")};  // <- here
#else
  optimizer::sgd sgd{.clip = lamina::clip_by_global_norm(1)};
#endif
  return sgd.clip.high > 1;
}
