// SPDX-License-Identifier: Apache-2.0
// gan_program - two networks against each other as one program: two costs, two calls of minimize
//
// The points and networks of examples/generative/gan.cpp. There, each network has a trainer; here,
// the program itself updates the judge's parameters by the judge's cost and then the forger's by
// the forger's.
#include <array>
#include <cmath>
#include <cstdio>
#include <vector>

#include <lamina/lamina.hpp>

namespace layer = lamina::layer;
using lamina::activation;

constexpr float mean[] = {4, -2}, deviation[] = {0.5f, 2};  // of real points, in x and in y
constexpr int steps = 4000, batch = 128;

constexpr auto verdict_on = [](auto point) {
  auto h = layer::fc<32>(point, {.act = activation::tanh,
                                 .param = {.name = "judge_0.w"},
                                 .bias_param = {.name = "judge_0.b"}});
  h = layer::fc<32>(h, {.act = activation::tanh,
                        .param = {.name = "judge_1.w"},
                        .bias_param = {.name = "judge_1.b"}});
  return layer::fc<1>(h, {.param = {.name = "judge_2.w"}, .bias_param = {.name = "judge_2.b"}});
};
constexpr auto forged_from = [](auto noise) {
  auto h = layer::fc<16>(noise, {.act = activation::tanh, .name = "forger_0"});
  return layer::fc<2>(h, {.name = "forger_1"});
};
constexpr auto slower(float rate) {
  return lamina::schedule::polynomial_decay{rate, steps, rate / 100};
}

constexpr auto training = lamina::program([](lamina::block& main) {
  constexpr lamina::optimizer::adam judging{.learning_rate = slower(5e-3f), .beta1 = 0.5f};
  constexpr lamina::optimizer::adam forging{.learning_rate = slower(2e-3f), .beta1 = 0.5f};
  auto more = layer::fill_constant<bool>(main, true);
  auto last = layer::fill_constant<float>(main, 0);
  layer::while_loop(more, [&](lamina::block& loop) {
    auto [real, noise] =
        layer::read_minibatch<"train", lamina::field<float, 2>, lamina::field<float, 2>>(loop,
                                                                                         more);
    auto forged = forged_from(noise);
    auto judged = layer::mean(layer::softplus(-verdict_on(real))) +
                  layer::mean(layer::softplus(verdict_on(forged)));
    judging.minimize(judged, lamina::prefix<"judge_">);
    auto passed = layer::mean(layer::softplus(-verdict_on(forged)));  // by the new judge
    forging.minimize(passed, lamina::prefix<"forger_">);
    last = judged;
  });
  return last;
});
constexpr auto forger = lamina::program([](lamina::block& main) {
  return layer::assign(forged_from(layer::data<"noise", float, 2>(main)), {.name = "point"});
});

struct sample {
  std::array<float, 2> real, noise;
};

int main() {
  lamina::reader::random random(1, 0, 0);
  const auto draw = [&] { return std::array{random.normal(), random.normal()}; };
  std::vector<std::vector<sample>> batches(steps, std::vector<sample>(batch));
  for (auto& minibatch : batches)
    for (sample& s : minibatch) {
      const auto [x, y] = draw();
      s = {{mean[0] + deviation[0] * x, mean[1] + deviation[1] * y}, draw()};
    }
  lamina::model model{training};
  std::printf("the judge's last cost is %.3f\n", lamina::run(model, batches).cost);

  constexpr int count = 10000;
  std::vector<std::array<float, 2>> numbers(count);
  for (auto& n : numbers) n = draw();
  lamina::model trained{forger, lamina::share_parameters_of(model)};
  lamina::evaluator e{trained};
  e.forward(lamina::feed<"noise">(numbers));
  const auto drawn = e.activation<"point">();
  bool good = true;
  for (std::size_t k = 0; k < 2; ++k) {
    double sum = 0, squares = 0;
    for (std::size_t i = 0; i < count; ++i)
      sum += drawn(i, k), squares += drawn(i, k) * drawn(i, k);
    const double m = sum / count, d = std::sqrt(squares / count - m * m);
    std::printf("%c: mean %.3f for %g, deviation %.3f for %g\n", "xy"[k], m, double(mean[k]), d,
                double(deviation[k]));
    good = good && std::abs(m / mean[k] - 1) < 0.1 && std::abs(d / deviation[k] - 1) < 0.1;
  }
  return good ? 0 : 1;
}
