// SPDX-License-Identifier: Apache-2.0
// wgan_gp - a critic whose cost contains its own gradient teaches a forger eight places on a ring
//
// Real points lie close to eight places on a circle. The critic estimates how far the forged points
// are from the real ones (the Wasserstein distance), for which its slope must be 1 on the way from
// one to the other. A penalty on the gradient of the critic with respect to its input keeps it
// there (Gulrajani et al. 2017), so the training differentiates a gradient.
#include <array>
#include <cmath>
#include <cstdio>
#include <numbers>
#include <vector>

#include <lamina/lamina.hpp>
#include <lamina/transform/gradients.hpp>

namespace layer = lamina::layer;
using lamina::activation;
using lamina::indexed;

constexpr int places = 8;
constexpr float radius = 2, deviation = 0.05f;

/// A layer of the critic, with the same parameters wherever it is called.
template <int Width, class V>
constexpr auto critic_layer(V x, int number) {
  const indexed weight("critic", number, "weight"), bias("critic", number, "bias");
  return layer::fc<Width>(x, {.param = {.name = weight}, .bias_param = {.name = bias}});
}
constexpr auto worth_of = [](auto point) {
  auto h = layer::leaky_relu(critic_layer<96>(point, 0));
  h = layer::leaky_relu(critic_layer<96>(h, 1));
  return critic_layer<1>(h, 2);
};
constexpr auto criticises = lamina::program([](lamina::block& main) {
  auto real = layer::data<"real", float, 2>(main);
  auto forged = layer::data<"forged", float, 2>(main);
  auto fraction = layer::data<"fraction", float>(main);
  auto between = forged + layer::elementwise_mul<0>(real - forged, fraction);
  auto [grad] = layer::gradients(worth_of(between), between);
  auto steepness = layer::sqrt(layer::reduce_sum<1>(layer::square(grad)));
  return layer::mean(worth_of(forged)) - layer::mean(worth_of(real)) +
         0.1f * layer::mean(layer::square(steepness - 1));
});
constexpr auto forges = lamina::program([](lamina::block& main) {
  auto noise = layer::data<"noise", float, 2>(main);
  auto h = layer::fc<96>(noise, {.act = activation::relu, .name = indexed("forger", 0)});
  h = layer::fc<96>(h, {.act = activation::relu, .name = indexed("forger", 1)});
  auto point = layer::fc<2>(h, {.name = "point"});
  return -layer::mean(worth_of(point));
});

struct criticised {
  std::array<float, 2> real, forged;
  float fraction;
};
struct noise {
  std::array<float, 2> numbers;
};

int main() {
  constexpr int steps = 2500, critic_steps = 5, batch = 128;
  lamina::model critic{criticises};
  // One memory for the critic of both models; only the critic's own trainer changes it.
  lamina::model forger{lamina::transform::freeze<"critic">(forges),
                       lamina::share_parameters_of(critic)};
  const auto slower = [](float rate, int of) {
    return lamina::schedule::polynomial_decay{rate, of, rate / 100};
  };
  lamina::trainer criticising{
      critic, lamina::optimizer::adam{
                  .learning_rate = slower(1e-3f, critic_steps * steps), .beta1 = 0, .beta2 = 0.9f}};
  lamina::trainer forging{
      forger,
      lamina::optimizer::adam{.learning_rate = slower(1e-3f, steps), .beta1 = 0, .beta2 = 0.9f}};
  lamina::evaluator drawing{forger};

  lamina::reader::random random(1, 0, 0);
  const auto draw = [&] { return noise{{random.normal(), random.normal()}}; };
  const auto place = [](int k) {
    const float angle = 2 * std::numbers::pi_v<float> * static_cast<float>(k) / places;
    return std::array<float, 2>{radius * std::cos(angle), radius * std::sin(angle)};
  };
  std::vector<noise> noises(batch);
  std::vector<std::array<float, 2>> numbers(batch);
  std::vector<criticised> points(batch);
  for (int step = 0; step < steps; ++step) {
    for (int turn = 0; turn < critic_steps; ++turn) {
      for (auto& n : numbers) n = draw().numbers;
      drawing.forward(lamina::feed<"noise">(numbers));
      const auto forged = drawing.activation<"point">();
      for (int i = 0; i < batch; ++i) {
        const auto [x, y] = place(static_cast<int>(random.uniform() * places) % places);
        const auto [dx, dy] = draw().numbers;
        points[static_cast<std::size_t>(i)] = {{x + deviation * dx, y + deviation * dy},
                                               {forged(i, 0), forged(i, 1)},
                                               random.uniform()};
      }
      criticising.step(points);
    }
    for (auto& n : noises) n = draw();
    forging.step(noises);
  }

  constexpr int count = 10000;
  numbers.resize(count);
  for (auto& n : numbers) n = draw().numbers;
  drawing.forward(lamina::feed<"noise">(numbers));
  const auto drawn = drawing.activation<"point">();
  std::array<int, places> at{};
  for (int i = 0; i < count; ++i)
    for (int k = 0; k < places; ++k) {
      const auto [x, y] = place(k);
      at[static_cast<std::size_t>(k)] += std::hypot(drawn(i, 0) - x, drawn(i, 1) - y) < 0.25f;
    }
  int close = 0, met = 0;
  for (const int n : at) close += n, met += n > count / places / 2;
  std::printf(
      "%.1f %% of %d points lie at one of the places; %d of %d places have more than half of their "
      "fraction\n",
      100.0 * close / count, count, met, places);
  return close > 0.75 * count && met == places ? 0 : 1;
}
