// SPDX-License-Identifier: Apache-2.0
// Averages of the parameters of a model are applied and taken back.
#include <tuple>
#include <vector>

#include <catch2/catch.hpp>

#include <lamina/lamina.hpp>
#include <lamina/optimizer/exponential_moving_average.hpp>
#include <lamina/optimizer/model_average.hpp>

namespace layer = lamina::layer;

namespace {

constexpr auto line = lamina::program([](lamina::block& main) {
  auto x = layer::data<"x", float>(main);
  auto y = layer::data<"y", float>(main);
  auto p = layer::fc<1>(x, {.param = {.name = "slope"}, .bias = false, .name = "prediction"});
  return layer::mean(layer::square_error_cost(p, y));
});

using sample = std::tuple<float, float>;
const std::vector<std::vector<sample>> batches{
    {{1.f, 2.f}, {2.f, 4.f}}, {{3.f, 6.f}}, {{-1.f, -2.f}}};

}  // namespace

TEST_CASE("averages of a model's parameters are applied and taken back") {
  lamina::model model{line};
  lamina::optimizer::sgd sgd{.learning_rate = 0.02f};
  lamina::optimizer::model_average average{
      {.rate = 1.f, .min_average_window = 100, .max_average_window = 1000}};
  auto list = lamina::parameters_of(model);
  double sum = 0;
  int steps = 0;
  sgd.train(model, batches, {.passes = 4, .on_event = [&](const lamina::event& e) {
                               if (!e.is_end_iteration()) return;
                               average.update(list);
                               sum += static_cast<double>(model.parameter<"slope">()(0, 0));
                               ++steps;
                             }});
  REQUIRE(steps == 12);
  const float trained = model.parameter<"slope">()(0, 0);
  {
    auto guard = average.apply(list);
    REQUIRE(model.parameter<"slope">()(0, 0) == Approx(sum / steps).epsilon(1e-5));
    lamina::evaluator e{model};
    e.forward(lamina::feed<"x">(std::vector<float>{2.f}));
    REQUIRE(e.activation<"prediction">()(0, 0) == Approx(2 * sum / steps).epsilon(1e-5));
  }
  REQUIRE(model.parameter<"slope">()(0, 0) == trained);
}
