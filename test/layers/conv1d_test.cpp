// SPDX-License-Identifier: Apache-2.0
// conv1d: values by hand, and the engine.
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <tuple>
#include <vector>

#include "laws/engine_law.hpp"
#include <catch2/catch.hpp>

#include <lamina/layers/conv1d.hpp>
#include <lamina/layers/layers.hpp>
#include <lamina/model/evaluator.hpp>
#include <lamina/model/gradient_machine.hpp>

namespace layer = lamina::layer;
using lamina::block;
using lamina::program;

namespace {

constexpr auto convolved = program([](block& main) {
  auto x = layer::data<"x", float, 2, 7>(main);
  auto a = layer::conv1d<3, 3, lamina::window1{.stride = 2, .padding = 1}>(x, {.name = "a"});
  auto b = layer::conv1d<4, 2, lamina::window1{.dilation = 2, .groups = 2, .causal = true}>(
      x, {.bias = false, .name = "b"});
  static_assert(layer::whole_shape<decltype(a)> == layer::extents{3, {-1, 3, 4}});
  static_assert(layer::whole_shape<decltype(b)> == layer::extents{3, {-1, 4, 7}});
  return std::tuple{layer::mean(a * a) + layer::mean(b * b), a, b};
});

}  // namespace

TEST_CASE("conv1d: the engine") { lamina::law::check_engine(convolved, {.tolerance = 1e-4}); }

TEST_CASE("conv1d: values by hand") {
  lamina::model m{convolved};
  std::vector<float> wa(18), wb(8), x(14);
  for (std::size_t i = 0; i < wa.size(); ++i) wa[i] = static_cast<float>(i) - 8;
  for (std::size_t i = 0; i < wb.size(); ++i) wb[i] = static_cast<float>(i * i) - 9;
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>((i * 5) % 7) - 3;
  m.set_parameter<"a.w_0">(lamina::array<float>({3, 2, 1, 3}, wa));
  m.set_parameter<"b.w_0">(lamina::array<float>({4, 1, 1, 2}, wb));
  lamina::evaluator e{m};
  e.forward(lamina::feed<"x">(x));
  const auto a = e.activation<"a">();
  const auto b = e.activation<"b">();
  const auto at = [&](std::size_t c, int i) {
    return i < 0 || i > 6 ? 0.f : x[7 * c + static_cast<std::size_t>(i)];
  };
  for (std::size_t f = 0; f < 3; ++f)
    for (int i = 0; i < 4; ++i) {
      float sum = 0;
      for (std::size_t c = 0; c < 2; ++c)
        for (int k = 0; k < 3; ++k)
          sum += wa[f * 6 + c * 3 + static_cast<std::size_t>(k)] * at(c, 2 * i + k - 1);
      CHECK(a(0, f, static_cast<std::size_t>(i)) == sum);
    }
  for (std::size_t f = 0; f < 4; ++f)
    for (int i = 0; i < 7; ++i)
      CHECK(b(0, f, static_cast<std::size_t>(i)) ==
            wb[f * 2] * at(f / 2, i - 2) + wb[f * 2 + 1] * at(f / 2, i));
}
