// SPDX-License-Identifier: Apache-2.0
// Operands that broadcast as in NumPy: shapes, values by hand, and the engine.
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <tuple>
#include <vector>

#include "laws/engine_law.hpp"
#include <catch2/catch.hpp>

#include <lamina/layers/broadcast.hpp>
#include <lamina/layers/layers.hpp>
#include <lamina/model/evaluator.hpp>
#include <lamina/model/gradient_machine.hpp>

namespace layer = lamina::layer;
using lamina::block;
using lamina::program;

namespace {

using layer::extents;
using layer::detail::broadcast_shape;
static_assert(broadcast_shape({2, {-1, 3}}, {1, {3}}) == extents{2, {-1, 3}});
static_assert(broadcast_shape({3, {-1, 3, 1}}, {2, {1, 4}}) == extents{3, {-1, 3, 4}});
static_assert(broadcast_shape({2, {1, 3}}, {3, {-1, 2, 1}}) == extents{3, {-1, 2, 3}});
static_assert(broadcast_shape({2, {-1, 3}}, {2, {-1, 4}}).rank == 0);
static_assert(broadcast_shape({2, {-1, 3}}, {3, {2, 1, 3}}).rank == 0);  // rows would not be first
static_assert(broadcast_shape({2, {-1, 3}}, {3, {-1, 1, 3}}).rank == 0);

constexpr auto widened = program([](block& main) {
  auto x = layer::data<"x", float, 3, 1>(main);
  auto y = layer::data<"y", float, 1, 4>(main);
  auto one = layer::data<"one", float>(main);
  auto w = layer::create_parameter<float, 2, 1>(main, {.name = "w"});
  auto a = layer::elementwise_sub(x, y, {.name = "a"});  // [-1, 3, 4]
  auto b = layer::elementwise_div(w, layer::exp(layer::reshape<1, 1>(one)),
                                  {.name = "b"});  // [-1, 2, 1] of [2, 1]
  auto c = layer::elementwise_max(one, layer::reshape<4>(y), {.name = "c"});  // [-1, 4]
  auto d = layer::assign(w * y, {.name = "d"});                               // [-1, 2, 4]
  auto e = layer::cast<float>(layer::less_than(x, y), {.name = "e"});
  return std::tuple{
      layer::mean(a * a) + layer::mean(b) + layer::mean(c) + layer::mean(d), a, b, c, d, e};
});

constexpr auto products = program([](block& main) {
  auto q = layer::data<"q", float, 3, 2, 4>(main);  // 3 heads
  auto k = layer::data<"k", float, 1, 4, 5>(main);  // one for all heads
  auto w = layer::create_parameter<float, 3, 4, 5>(main, {.name = "w"});
  auto a = layer::matmul(q, k, {.name = "a"});
  auto b = layer::matmul(q, w, {.name = "b"});
  constexpr layer::matmul_form turned{.transpose_x = true};
  auto c =
      layer::matmul<turned>(w, layer::transpose<0, 1, 3, 2>(q), {.name = "c"});  // [-1, 3, 5, 2]
  return std::tuple{layer::mean(a * a) + layer::mean(b * b) + layer::mean(c), a, b, c};
});

}  // namespace

TEST_CASE("broadcast: the engine") {
  lamina::law::check_engine(widened);
  lamina::law::check_engine(products, {.tolerance = 1e-4});
}

TEST_CASE("broadcast: products of matrices by hand") {
  lamina::model m{products};
  std::vector<float> q(48), k(40), w(60);
  for (auto* of : {&q, &k, &w})
    for (std::size_t i = 0; i < of->size(); ++i)
      (*of)[i] = static_cast<float>((i * 7 + of->size()) % 11) - 5;
  m.set_parameter<"w">(lamina::array<float>({3, 4, 5}, w));
  lamina::evaluator e{m};
  e.forward(lamina::feed<"q">(q), lamina::feed<"k">(k));
  const auto a = e.activation<"a">();
  const auto b = e.activation<"b">();
  const auto c = e.activation<"c">();
  for (std::size_t r = 0; r < 2; ++r)
    for (std::size_t h = 0; h < 3; ++h)
      for (std::size_t i = 0; i < 2; ++i)
        for (std::size_t j = 0; j < 5; ++j) {
          float by_k = 0, by_w = 0;
          for (std::size_t s = 0; s < 4; ++s) {
            const float left = q[24 * r + 8 * h + 4 * i + s];
            by_k += left * k[20 * r + 5 * s + j];
            by_w += left * w[20 * h + 5 * s + j];
          }
          CHECK(a(r, h, i, j) == by_k);
          CHECK(b(r, h, i, j) == by_w);
          CHECK(c(r, h, j, i) == by_w);
        }
}

TEST_CASE("broadcast: values by hand") {
  lamina::model m{widened};
  m.set_parameter<"w">(lamina::array<float>({2, 1}, {2, -3}));
  lamina::evaluator e{m};
  const std::vector<float> x{1, 5, -2, 0, 7, 3}, y{0, 1, 2, 3, 6, 4, -1, 9}, one{0, 1};
  e.forward(lamina::feed<"x">(x), lamina::feed<"y">(y), lamina::feed<"one">(one));
  const auto a = e.activation<"a">();
  const auto b = e.activation<"b">();
  const auto c = e.activation<"c">();
  const auto d = e.activation<"d">();
  const auto less = e.activation<"e">();
  for (std::size_t r = 0; r < 2; ++r) {
    for (std::size_t i = 0; i < 3; ++i)
      for (std::size_t j = 0; j < 4; ++j) {
        CHECK(a(r, i, j) == x[3 * r + i] - y[4 * r + j]);
        CHECK(less(r, i, j) == (x[3 * r + i] < y[4 * r + j] ? 1.f : 0.f));
      }
    const float w[] = {2, -3};
    for (std::size_t i = 0; i < 2; ++i) {
      CHECK(b(r, i, 0) == Approx(w[i] / std::exp(one[r])));
      for (std::size_t j = 0; j < 4; ++j) CHECK(d(r, i, j) == w[i] * y[4 * r + j]);
    }
    for (std::size_t j = 0; j < 4; ++j) CHECK(c(r, j) == std::max(one[r], y[4 * r + j]));
  }
}
