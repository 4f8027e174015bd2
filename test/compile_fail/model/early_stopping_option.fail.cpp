// SPDX-License-Identifier: Apache-2.0
// An option that early_stopping does not have.
// expect-error[gcc]: use of deleted function
// expect-fact[gcc]: // expected early_stopping early.model, ..patience = 5
// expect-error[clang]: no viable constructor or deduction guide
// expect-lines: 12
#include <lamina/layers/data.hpp>
#include <lamina/operators/matrix/fc/layer.hpp>
#include <lamina/operators/reduce/dimensions/layer.hpp>
#include <lamina/train/events/early_stopping.hpp>

namespace layer = lamina::layer;

constexpr auto net = lamina::program([](lamina::block& main) {
  auto x = layer::data<"x", float, 4>(main);
  return layer::mean(layer::fc<1>(x));
});

int main() {
  lamina::model m{net};
#ifdef SHOULD_FAIL
  lamina::early_stopping early{m, {.patienc = 5}};  // <- here
#else
  lamina::early_stopping early{m, {.patience = 5}};
  return early(0.5);
#endif
}
