// SPDX-License-Identifier: Apache-2.0
// online_learning - learns from an endless stream of samples and stops by itself
#include <cmath>
#include <cstdio>

#include <lamina/lamina.hpp>

namespace layer = lamina::layer;
namespace reader = lamina::reader;

struct sample {
  float x, y;
};

// x is uniform in [0, 1), y is normal around 2 x. There is no last one.
lamina::generator<sample> stream() {
  for (std::uint64_t i = 0;; ++i) {
    const float x = lamina::uniform_at(3, 0, i);
    co_yield {x, 2 * x + 0.1f * lamina::random_normal_at(3, 1, i)};
  }
}

constexpr auto line = lamina::program([](lamina::block& main) {
  auto x = layer::data<"x", float, 1>(main);
  auto y = layer::data<"y", float, 1>(main);
  return layer::mean(layer::square_error_cost(layer::fc<1>(x, {.name = "line"}), y));
});

int main() {
  lamina::model model{line};
  double recent = 0, before = INFINITY;
  const auto watch = [&](const lamina::event& e) {
    if (!e.is_end_iteration()) return;
    recent += e.cost / 500;
    if ((e.batch + 1) % 500 != 0) return;
    std::printf("%lld mini-batches: cost %.5f\n", static_cast<long long>(e.batch + 1), recent);
    if (recent > 0.99 * before) e.stop();
    before = recent;
    recent = 0;
  };
  const auto result = lamina::optimizer::sgd{.learning_rate = 0.1f}.train(
      model, stream | reader::batch(16), {.on_event = watch});

  const float weight = model.parameter<"line.w_0">()(0, 0), bias = model.parameter<"line.b_0">()(0);
  std::printf("stopped after %lld samples: y = %.3f x + %.3f\n",
              static_cast<long long>(result.samples), static_cast<double>(weight),
              static_cast<double>(bias));
  return result.stopped && std::abs(weight - 2) < 0.1f && std::abs(bias) < 0.05f ? 0 : 1;
}
