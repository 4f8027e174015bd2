// SPDX-License-Identifier: Apache-2.0
// The optimizer before the value.
// expect-error[gcc]: use of deleted function
// expect-fact[gcc]: // expected a value and an optimizer, plateau
// expect-error[clang]: no matching function for call to object of type 'lamina::reduce_on_plateau'
// expect-lines: 12
#include <lamina/optimizer/sgd.hpp>
#include <lamina/train/events/reduce_on_plateau.hpp>

int main() {
  lamina::optimizer::sgd sgd;
  lamina::reduce_on_plateau plateau{{.patience = 3}};
#ifdef SHOULD_FAIL
  plateau(sgd, 0.5);  // <- here
#else
  return plateau(0.5, sgd);
#endif
}
