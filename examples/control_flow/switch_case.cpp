// SPDX-License-Identifier: Apache-2.0
// switch_case - a branch of the program chooses the learning rate of each step
#include <array>
#include <cmath>
#include <cstdio>
#include <vector>

#include <lamina/lamina.hpp>

namespace layer = lamina::layer;

// A warm-up, a large rate, and a small one at the end. The count of steps stays in the model.
constexpr auto training = lamina::program([](lamina::block& main) {
  auto more = layer::fill_constant<bool>(main, true);
  auto last = layer::fill_constant<float>(main, 0);
  auto steps = layer::create_global_var<float>(main, 0, {.name = "steps"});
  auto used = layer::create_global_var<float>(main, 0, {.name = "rate"});
  layer::while_loop(more, [&](lamina::block& loop) {
    auto [x, y] =
        layer::read_minibatch<"train", lamina::field<float, 2>, lamina::field<float>>(loop, more);
    auto cost = layer::mean(layer::square_error_cost(layer::fc<1>(x, {.name = "line"}), y));

    auto early = layer::less_than(steps, layer::fill_constant<float>(loop, 10));
    auto late = layer::greater_equal(steps, layer::fill_constant<float>(loop, 60));
    auto rate = layer::fill_constant<float>(loop, 0);
    layer::switch_case(early, [&](lamina::block&) {
      rate = 0.02f * (steps + 1.0f);
    }).when(late, [&](lamina::block& body) {
        rate = layer::fill_constant<float>(body, 0.02f);
      }).otherwise([&](lamina::block& body) { rate = layer::fill_constant<float>(body, 0.2f); });
    lamina::optimizer::sgd{.learning_rate = rate}.minimize(cost);

    layer::store(rate, used);
    layer::store(steps + 1.0f, steps);
    last = cost;
  });
  return last;
});

struct sample {
  std::array<float, 2> x;
  float y;
};

int main() {
  std::vector<sample> samples;
  for (int i = 0; i < 32; ++i) {
    const float a = static_cast<float>(i % 8) / 4 - 1, b = static_cast<float>(i / 8) - 1.5f;
    samples.push_back({{a, b}, 2 * a - b + 1});
  }
  lamina::model model{training};
  bool right = true;
  float cost = 0;
  for (int pass = 0; pass < 10; ++pass) {  // 8 mini-batches each
    cost = static_cast<float>(lamina::run(model, samples | lamina::reader::batch(4)).cost);
    const float steps = model.parameter<"steps">()(0), rate = model.parameter<"rate">()(0);
    std::printf("%2.0f steps, rate %.2f, cost %.6f\n", static_cast<double>(steps),
                static_cast<double>(rate), static_cast<double>(cost));
    const float expected = steps <= 10 ? 0.02f * steps : steps <= 60 ? 0.2f : 0.02f;
    right = right && std::abs(rate - expected) < 1e-6f;
  }
  return right && cost < 1e-4f ? 0 : 1;
}
