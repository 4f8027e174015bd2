// SPDX-License-Identifier: Apache-2.0
// The probability among the options.
// expect-error[gcc]: use of deleted function .*no_match<lamina::layer::dropout_attr>
// expect-error[clang]: no matching function for call to 'dropout'
// expect-fact[gcc]: // call dropout\(x, 0.5f\)
// expect-errors[clang]: 2
// expect-lines[gcc]: 10
// expect-lines[clang]: 10
#include <lamina/lamina.hpp>

namespace layer = lamina::layer;

constexpr auto net = lamina::program([](lamina::block& main) {
  auto x = layer::data<"x", float, 4>(main);
#ifdef SHOULD_FAIL
  auto h = layer::dropout(x, {.probability = 0.5f});  // <- here
#else
  auto h = layer::dropout(x, 0.5f);
#endif
  return layer::mean(layer::fc<1>(h, {.name = "output"}));
});

int main() {
  lamina::model m{net};
  lamina::evaluator e{m};
  e.forward(lamina::feed<"x">(std::vector<float>(4)));
  return e.activation<"output">().size() == 0;
}
