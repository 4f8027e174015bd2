// SPDX-License-Identifier: Apache-2.0
// Activations have the shapes of their variables.

#include "model/classifier.hpp"
#include "model/samples.hpp"

#include <lamina/model/evaluation/activation_view.hpp>
#include <lamina/model/evaluator.hpp>

namespace layer = lamina::layer;

namespace {

constexpr auto shapes = lamina::program([](lamina::block& main) {
  auto x = layer::data<"x", float, 2, 3>(main);
  auto y = layer::scale(x, 2.f, {.name = "twice"});
  return layer::fc<4>(y, {.name = "last"});
});

}  // namespace

TEST_CASE("an activation has the shape of its variable; a program needs no cost") {
  lamina::model m{shapes};
  lamina::evaluator e{m};
  std::vector<float> x(5 * 6);
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>(i);
  e.forward(lamina::feed<"x">(x));
  const auto twice = e.activation<"twice">();
  REQUIRE(twice.dimension() == 3);
  REQUIRE(twice.shape()[0] == 5);
  REQUIRE(twice.shape()[1] == 2);
  REQUIRE(twice.shape()[2] == 3);
  for (std::size_t i = 0; i < 5; ++i)
    for (std::size_t j = 0; j < 2; ++j)
      for (std::size_t k = 0; k < 3; ++k) CHECK(twice(i, j, k) == 2 * x[6 * i + 3 * j + k]);
  CHECK(e.activation<"last">().shape()[1] == 4);
}
