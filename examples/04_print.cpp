// SPDX-License-Identifier: Apache-2.0
// print - a layer that writes values, and their gradients, to stderr while the program runs
#include <array>
#include <cstdio>
#include <vector>

#include <lamina/lamina.hpp>

namespace layer = lamina::layer;

constexpr auto net = lamina::program([](lamina::block& main) {
  auto x = layer::data<"x", float, 3>(main);
  auto y = layer::data<"y", float>(main);
  auto hidden = layer::fc<4>(x, {.act = lamina::activation::tanh, .name = "hidden"});
  // In the first two mini-batches: the first four elements forward, and those of the gradient.
  hidden = layer::print(hidden, {.message = "hidden", .first_n = 2, .summarize = 4});
  auto cost = layer::mean(layer::square_error_cost(layer::fc<1>(hidden), y));
  return layer::print(cost, {.message = "cost", .phase = layer::print_phase::forward});
});

struct sample {
  std::array<float, 3> x;
  float y;
};

int main() {
  std::vector<sample> samples;
  for (int i = 0; i < 6; ++i) {
    const float a = static_cast<float>(i) / 3 - 1;
    samples.push_back({{a, a * a, 1}, a});
  }
  lamina::model model{net};
  lamina::optimizer::adam adam{.learning_rate = 0.05f};
  lamina::trainer t{model, adam};
  const float first = t.step(samples);
  for (int step = 0; step < 4; ++step) t.step(samples);
  const float last = t.step(samples);
  std::printf("cost %.4f, then %.4f\n", static_cast<double>(first), static_cast<double>(last));
  return last < first ? 0 : 1;
}
