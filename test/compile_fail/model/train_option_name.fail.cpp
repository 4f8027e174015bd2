// SPDX-License-Identifier: Apache-2.0
// An option that train does not have.
// expect-error[gcc]: train_options
// expect-error[clang]: no matching member function for call to .train
// expect-fact: train_options
// expect-lines: 12
#include <lamina/lamina.hpp>

namespace layer = lamina::layer;

constexpr auto net = lamina::program([](lamina::block& main) {
  auto x = layer::data<"x", float, 2>(main);
  return layer::mean(layer::fc<1>(x, {.name = "output"}));
});

int main() {
  lamina::model m{net};
  lamina::optimizer::sgd sgd{};
  std::vector<std::array<float, 2>> samples(3);
#ifdef SHOULD_FAIL
  sgd.train(m, samples | lamina::reader::batch(1), {.epochs = 5});  // <- here
#else
  sgd.train(m, samples | lamina::reader::batch(1), {.passes = 5});
#endif
  return 0;
}
