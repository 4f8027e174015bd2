// SPDX-License-Identifier: Apache-2.0
// expect-error: lamina: an optimizer needs a static update
#include <lamina/optimizer/rule.hpp>

struct sign_sgd : lamina::optimizer::rule<sign_sgd> {
  lamina::optimizer::learning_rate learning_rate = 0.01f;
#ifdef SHOULD_FAIL
  template <class T>
  static void update(T& param, T lr) {
    param -= lr;
  }
#else
  template <class T>
  static void update(T& param, T grad, T lr) {
    param -= lr * grad;
  }
#endif
};

struct loop_model {};
int train_with(const sign_sgd&, loop_model&, int, const lamina::serial_options&) { return 0; }

int main() {
  loop_model model;
  sign_sgd{}.train(model, 0);  // <- here
}
