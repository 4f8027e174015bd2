// SPDX-License-Identifier: Apache-2.0
// pixel_shuffle and conv1d: values by hand, and the engine.
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <tuple>
#include <vector>

#include "laws/engine_law.hpp"
#include <catch2/catch.hpp>

#include <lamina/layers/layers.hpp>
#include <lamina/layers/pixel_shuffle.hpp>
#include <lamina/model/evaluator.hpp>
#include <lamina/model/gradient_machine.hpp>

namespace layer = lamina::layer;
using lamina::block;
using lamina::program;

namespace {

constexpr auto shuffled = program([](block& main) {
  auto x = layer::data<"x", float, 8, 2, 3>(main);
  auto y = layer::pixel_shuffle<2>(x, {.name = "y"});
  static_assert(layer::whole_shape<decltype(y)> == layer::extents{4, {-1, 2, 4, 6}});
  return std::tuple{layer::mean(y * y), y};
});

}  // namespace

TEST_CASE("pixel_shuffle: the engine") { lamina::law::check_engine(shuffled); }

TEST_CASE("pixel_shuffle: values by hand") {
  const lamina::model m{shuffled};
  lamina::evaluator e{m};
  std::vector<float> x(48);
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>(i);
  e.forward(lamina::feed<"x">(x));
  const auto y = e.activation<"y">();
  for (std::size_t c = 0; c < 2; ++c)
    for (std::size_t h = 0; h < 4; ++h)
      for (std::size_t w = 0; w < 6; ++w)
        CHECK(y(0, c, h, w) == x[(((c * 2 + h % 2) * 2 + w % 2) * 2 + h / 2) * 3 + w / 2]);
}
