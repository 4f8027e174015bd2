// SPDX-License-Identifier: Apache-2.0
// pieces - three programs from the same functions: one trains, one serves, one is a startup program
#include <cmath>
#include <cstdio>

#include "pieces/network.hpp"
#include "pieces/recipe.hpp"

namespace layer = lamina::layer;
namespace reader = lamina::reader;

constexpr auto training = lamina::program([](lamina::block& main) {
  auto [image, label] = pieces::read_digit(main);
  return pieces::cost_of(pieces::scores(image), label);
});
constexpr auto serving = lamina::program([](lamina::block& main) {
  auto image = layer::data<"image", float, 64>(main);
  return layer::softmax(pieces::scores(image), {.name = "probabilities"});
});
constexpr auto startup =
    lamina::program([](lamina::block& main) { pieces::begin_undecided(main); });

int main() {
  lamina::model model{training};
  lamina::run_startup(startup, model, /*seed=*/1);
  lamina::evaluator tester{model};
  const auto held_out = lamina::dataset::digits::test() | reader::batch(64);
  const double before = tester.test(held_out).cost;

  lamina::optimizer::adam adam{.learning_rate = 3e-3f};
  adam.train(model, lamina::dataset::digits::train() | reader::shuffle(2000) | reader::batch(32),
             {.passes = 8});
  const auto after = tester.test(held_out);
  std::printf("cost %.3f before (log 10 is %.3f), %.3f after; accuracy %.3f\n", before,
              std::log(10.0), after.cost, after.metric("accuracy"));

  // The pieces give their layers the same names in each program, so parameters are shared by name.
  lamina::model served{serving, lamina::share_parameters_of(model)};
  lamina::evaluator server{served};
  int right = 0, all = 0;
  for (const auto& [image, label] : lamina::dataset::digits::test()) {
    server.forward(lamina::feed<"image">(image));
    const auto p = server.activation<"probabilities">();
    std::int64_t best = 0;
    for (std::int64_t k = 1; k < 10; ++k)
      if (p(0, static_cast<std::size_t>(k)) > p(0, static_cast<std::size_t>(best))) best = k;
    right += best == label ? 1 : 0;
    ++all;
  }
  std::printf("the server names %d of %d\n", right, all);
  const bool undecided = std::abs(before - std::log(10.0)) < 0.05;
  const bool same = std::abs(double(right) / all - after.metric("accuracy")) < 1e-6;
  return undecided && same && right > 0.93 * all ? 0 : 1;
}
