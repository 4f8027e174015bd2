// SPDX-License-Identifier: Apache-2.0
// gan - two networks, two trainers: a forger learns to draw the points that a judge takes for real
//
// Real points are normally distributed in the plane. The judge tells them from forged ones; the
// forger makes points of noise and wants them to pass for real (Goodfellow et al. 2014). Neither
// stands still, so the judge learns faster than the forger, and both slow down towards the end.
#include <array>
#include <cmath>
#include <cstdio>
#include <vector>

#include <lamina/lamina.hpp>

namespace layer = lamina::layer;
using lamina::activation;
using lamina::indexed;

constexpr float mean[] = {4, -2}, deviation[] = {0.5f, 2};  // of real points, in x and in y

constexpr auto verdict_on = [](auto point) {
  auto h = layer::fc<32>(point, {.act = activation::tanh, .name = indexed("judge", 0)});
  h = layer::fc<32>(h, {.act = activation::tanh, .name = indexed("judge", 1)});
  return layer::fc<1>(h, {.name = indexed("judge", 2)});
};
constexpr auto judges = lamina::program([](lamina::block& main) {
  auto point = layer::data<"point", float, 2>(main);
  auto is_real = layer::data<"is_real", float>(main);
  return layer::mean(layer::sigmoid_cross_entropy_with_logits(verdict_on(point), is_real));
});
constexpr auto forges = lamina::program([](lamina::block& main) {
  auto noise = layer::data<"noise", float, 2>(main);
  auto h = layer::fc<16>(noise, {.act = activation::tanh, .name = indexed("forger", 0)});
  auto point = layer::fc<2>(h, {.name = "point"});
  return layer::mean(layer::softplus(-verdict_on(point)));
});

struct judged {
  std::array<float, 2> point;
  float is_real;
};
struct noise {
  std::array<float, 2> numbers;
};

int main() {
  constexpr int steps = 4000, batch = 128;
  lamina::model judge{judges};
  // One memory for the judge of both models; only the judge's own trainer changes it.
  lamina::model forger{lamina::transform::freeze<"judge">(forges),
                       lamina::share_parameters_of(judge)};
  const auto slower = [](float rate) {
    return lamina::schedule::polynomial_decay{rate, steps, rate / 100};
  };
  lamina::trainer judging{judge,
                          lamina::optimizer::adam{.learning_rate = slower(5e-3f), .beta1 = 0.5f}};
  lamina::trainer forging{forger,
                          lamina::optimizer::adam{.learning_rate = slower(2e-3f), .beta1 = 0.5f}};

  lamina::reader::random random(1, 0, 0);
  const auto draw = [&] { return noise{{random.normal(), random.normal()}}; };
  for (int step = 0; step < steps; ++step) {
    std::vector<noise> noises(batch);
    for (auto& n : noises) n = draw();
    forging.step(noises);
    const auto forged = forging.activation<"point">();
    std::vector<judged> points;
    for (int i = 0; i < batch; ++i) {
      const auto [x, y] = draw().numbers;
      points.push_back({{mean[0] + deviation[0] * x, mean[1] + deviation[1] * y}, 1});
      points.push_back({{forged(i, 0), forged(i, 1)}, 0});
    }
    judging.step(points);
  }

  constexpr int count = 10000;
  std::vector<std::array<float, 2>> numbers(count);
  for (auto& n : numbers) n = draw().numbers;
  lamina::evaluator e{forger};
  e.forward(lamina::feed<"noise">(numbers));
  const auto drawn = e.activation<"point">();
  bool good = true;
  for (int k = 0; k < 2; ++k) {
    double sum = 0, squares = 0;
    for (int i = 0; i < count; ++i) sum += drawn(i, k), squares += drawn(i, k) * drawn(i, k);
    const double m = sum / count, d = std::sqrt(squares / count - m * m);
    std::printf("%c: mean %.3f for %g, deviation %.3f for %g\n", "xy"[k], m, double(mean[k]), d,
                double(deviation[k]));
    good = good && std::abs(m / mean[k] - 1) < 0.1 && std::abs(d / deviation[k] - 1) < 0.1;
  }
  return good ? 0 : 1;
}
