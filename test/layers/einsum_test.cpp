// SPDX-License-Identifier: Apache-2.0
// einsum: values of the sums, with rows in each position, and the engine.
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <tuple>
#include <vector>

#include "laws/engine_law.hpp"
#include <catch2/catch.hpp>

#include <lamina/layers/einsum.hpp>
#include <lamina/layers/layers.hpp>
#include <lamina/model/evaluator.hpp>
#include <lamina/model/gradient_machine.hpp>

namespace layer = lamina::layer;
using lamina::block;
using lamina::program;

namespace {

constexpr auto sums = program([](block& main) {
  auto x = layer::data<"x", float, 2, 3>(main);
  auto y = layer::data<"y", float, 3, 4>(main);
  auto w = layer::create_parameter<float, 3, 4>(main, {.name = "w"});
  auto v = layer::create_parameter<float, 2, 3, 4>(main, {.name = "v"});
  auto product = layer::einsum<"bij,bjk->bki">(x, y, {.name = "product"});
  auto with_w = layer::einsum<"bij, jk -> bik">(x, w, {.name = "with_w"});
  auto from_w = layer::einsum<"jk,bij->bki">(w, x, {.name = "from_w"});
  auto each = layer::einsum<"bij,ijk->bik">(x, v, {.name = "each"});
  auto other = layer::einsum<"ijk,bij->bki">(v, x, {.name = "other"});
  auto turned = layer::einsum<"bij->bji">(x, {.name = "turned"});
  auto total = layer::einsum<"bij->b">(x, {.name = "total"});
  auto rows = layer::einsum<"bij,bjk->ik">(x, y, {.name = "rows"});
  auto outer =
      layer::einsum<"bi,bj->ij">(layer::reshape<6>(x), layer::reshape<12>(y), {.name = "outer"});
  return std::tuple{layer::mean(product * product) + layer::mean(with_w * with_w) +
                        layer::mean(from_w) + layer::mean(each * each) + layer::mean(other) +
                        layer::mean(turned) + layer::mean(total) + layer::mean(rows) +
                        layer::mean(outer),
                    product,
                    with_w,
                    from_w,
                    each,
                    other,
                    turned,
                    total,
                    rows,
                    outer};
});

constexpr float small(std::size_t i) { return static_cast<float>((i * 7) % 11) - 5; }

}  // namespace

TEST_CASE("einsum: the engine") {
  lamina::law::check_engine(sums, {.tolerance = 1e-4, .rows_are_alone = false});
}

TEST_CASE("einsum: the sums") {
  lamina::model m{sums};
  std::vector<float> x(12), y(24), w(12), v(24);
  for (auto* of : {&x, &y, &w, &v})
    for (std::size_t i = 0; i < of->size(); ++i) (*of)[i] = small(i + of->size());
  m.set_parameter<"w">(lamina::array<float>({3, 4}, w));
  m.set_parameter<"v">(lamina::array<float>({2, 3, 4}, v));
  lamina::evaluator e{m};
  e.forward(lamina::feed<"x">(x), lamina::feed<"y">(y));
  const auto product = e.activation<"product">();
  const auto with_w = e.activation<"with_w">();
  const auto from_w = e.activation<"from_w">();
  const auto each = e.activation<"each">();
  const auto other = e.activation<"other">();
  const auto turned = e.activation<"turned">();
  const auto total = e.activation<"total">();
  const auto rows = e.activation<"rows">();
  const auto outer = e.activation<"outer">();
  const auto xs = [&](std::size_t b, std::size_t i, std::size_t j) { return x[6 * b + 3 * i + j]; };
  const auto ys = [&](std::size_t b, std::size_t j, std::size_t k) {
    return y[12 * b + 4 * j + k];
  };
  for (std::size_t i = 0; i < 2; ++i)
    for (std::size_t k = 0; k < 4; ++k) {
      float over_rows = 0;
      for (std::size_t b = 0; b < 2; ++b) {
        float xy = 0, xw = 0, xv = 0;
        for (std::size_t j = 0; j < 3; ++j) {
          xy += xs(b, i, j) * ys(b, j, k);
          xw += xs(b, i, j) * w[4 * j + k];
          xv += xs(b, i, j) * v[12 * i + 4 * j + k];
          CHECK(turned(b, j, i) == xs(b, i, j));
        }
        over_rows += xy;
        CHECK(product(b, k, i) == xy);
        CHECK(with_w(b, i, k) == xw);
        CHECK(from_w(b, k, i) == xw);
        CHECK(each(b, i, k) == xv);
        CHECK(other(b, k, i) == xv);
      }
      CHECK(rows(i, k) == over_rows);
    }
  for (std::size_t b = 0; b < 2; ++b) {
    float sum = 0;
    for (std::size_t i = 0; i < 6; ++i) sum += x[6 * b + i];
    CHECK(total(b) == sum);
  }
  for (std::size_t i = 0; i < 6; ++i)
    for (std::size_t j = 0; j < 12; ++j) CHECK(outer(i, j) == x[i] * y[j] + x[6 + i] * y[12 + j]);
}
