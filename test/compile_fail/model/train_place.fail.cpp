// SPDX-License-Identifier: Apache-2.0
// Something behind the options of train that is no place of a type of its own.
// expect-error: static.assert.*train: expected a place after the options
// expect-lines: 12
#include <lamina/core/place.hpp>
#include <lamina/optimizer/sgd.hpp>

struct own_model {};
int train_with(const lamina::optimizer::sgd&, own_model&, int, const lamina::train_options&,
               const auto&) {
  return 0;
}

struct own_place {
  struct arithmetic {};
  int number = 0;
};

int main() {
  own_model model;
#ifdef SHOULD_FAIL
  lamina::optimizer::sgd{}.train(model, 0, {.passes = 20}, lamina::place{});  // <- here
#else
  lamina::optimizer::sgd{}.train(model, 0, {.passes = 20}, own_place{});
#endif
}
