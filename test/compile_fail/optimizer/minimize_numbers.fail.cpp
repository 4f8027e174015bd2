// SPDX-License-Identifier: Apache-2.0
// expect-error: lamina: minimize: inside of a program an optimizer's own numbers are the same in
// expect-fact: each step
// expect-fact: gets_type<falling>
#include <array>
#include <cmath>
#include <cstdint>

#include <lamina/layers/layers.hpp>
#include <lamina/optimizer/adam.hpp>
#include <lamina/optimizer/minimize.hpp>

namespace layer = lamina::layer;

struct falling final : lamina::optimizer::rule<falling> {
  lamina::optimizer::learning_rate learning_rate = 0.1f;
  std::array<float, 2> scalars(std::int64_t step) const {
    return {learning_rate.at(step), static_cast<float>(std::exp(-0.1 * static_cast<double>(step)))};
  }
  template <class T>
  LAMINA_FN static void update(T& param, T grad, T learning_rate, T factor) {
    param -= learning_rate * factor * grad;
  }
};

constexpr auto net = lamina::program([](lamina::block& main) {
  auto x = layer::data<"x", float, 3>(main);
  auto cost = layer::mean(layer::square(layer::fc<1>(x)));
#ifdef SHOULD_FAIL
  falling{.learning_rate = 0.1f}.minimize(cost);  // <- here
#else
  lamina::optimizer::adam{.learning_rate = 0.1f}.minimize(cost);
#endif
});

int main() { return net.desc.count.operators > 0 ? 0 : 1; }
