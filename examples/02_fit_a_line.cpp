// SPDX-License-Identifier: Apache-2.0
// fit_a_line - linear regression of house prices; takes the path of a Boston housing CSV
#include <cstdio>

#include <lamina/dataset/housing.hpp>
#include <lamina/lamina.hpp>

namespace layer = lamina::layer;
namespace reader = lamina::reader;
namespace housing = lamina::dataset::housing;

constexpr auto line = lamina::program([](lamina::block& main) {
  auto features = layer::data<"features", float, 13>(main);
  auto price = layer::data<"price", float, 1>(main);
  auto predicted = layer::fc<1>(features, {.name = "predicted"});
  return layer::mean(layer::square_error_cost(predicted, price));
});

int main(int count, char** argument) try {
  if (count < 2) std::puts("no CSV file given: using synthetic data");
  const housing::source data = count < 2 ? housing::twin() : housing::read(argument[1]);

  lamina::model model{line};
  lamina::optimizer::sgd sgd{.learning_rate = 0.03f};
  const auto batches = data.train() | reader::shuffle(500) | reader::batch(20);
  sgd.train(model, batches, {.passes = 100, .on_event = [](const lamina::event& e) {
                               if (e.is_end_pass() && (e.pass + 1) % 20 == 0)
                                 std::printf("pass %d: training cost %.3f\n", e.pass + 1, e.cost);
                             }});

  lamina::evaluator e{model};
  for (const auto& house : {data.test()[0], data.test()[1]}) {
    e.forward(lamina::feed<"features">(house.features));
    std::printf("price %.1f, predicted %.1f\n", static_cast<double>(house.price),
                static_cast<double>(e.activation<"predicted">()(0, 0)));
  }
  const double cost = e.test(data.test() | reader::batch(20)).cost;
  std::printf("test mean squared error %.4f\n", cost);
  return cost <= 30 ? 0 : 1;
} catch (const lamina::error& e) {
  std::fprintf(stderr, "%s\n", e.what());
  return 1;
}
