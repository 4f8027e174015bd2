// SPDX-License-Identifier: Apache-2.0
// argsort, argmax, argmin, scatter, unstack and crop on the compiled engine, against the executor.
#include <tuple>

#include "laws/engine_law.hpp"
#include <catch2/catch.hpp>

#include <lamina/layers/layers.hpp>

namespace layer = lamina::layer;
using lamina::block;
using lamina::program;

namespace {

constexpr auto orders = program([](block& main) {
  auto x = layer::data<"x", float, 3, 19>(main);
  auto n = layer::data<"n", std::int64_t, 5>(main);
  auto [a, i] = layer::argsort(x);
  auto [b, j] = layer::argsort<1>(x, {.descending = true});
  auto [c, k] = layer::argsort(n, {.descending = true});  // with equal elements
  return std::tuple{layer::mean(a * b * x), a, i, b, j, c, k};
});
constexpr auto column_orders = program([](block& main) {
  auto x = layer::data<"x", float, 3>(main);
  auto [a, i] = layer::argsort<0>(x);
  return std::tuple{layer::mean(a * x), a, i, layer::argmax(x), layer::argmin<0>(layer::argmax(x))};
});
constexpr auto ends = program([](block& main) {
  auto x = layer::data<"x", float, 3, 5>(main);
  auto n = layer::data<"n", std::int32_t, 4>(main);
  return std::tuple{layer::argmax<1>(x), layer::argmin<-1>(x), layer::argmax<1>(n),
                    layer::argmin<1>(layer::argmax<2>(x))};
});
template <bool Overwrite>
constexpr auto scattered = program([](block& main) {
  auto x = layer::data<"x", float, 3>(main);
  auto at = layer::data<"at", std::int64_t>(main);
  auto y = layer::scatter(layer::fc<3>(x), at, layer::square(x), {.overwrite = Overwrite});
  return std::tuple{layer::mean(y * y), y};
});
constexpr auto table_rows = program([](block& main) {
  auto at = layer::data<"at", std::int32_t>(main);
  auto n = layer::data<"n", std::int64_t, 2>(main);
  auto table = layer::fill_constant<std::int64_t, 5, 2>(main, 7);
  return std::tuple{layer::scatter(table, at, n),
                    layer::scatter(table, at, n, {.overwrite = false})};
});
constexpr auto parts = program([](block& main) {
  auto x = layer::data<"x", float, 3, 4, 5>(main);
  const auto a = layer::unstack<1>(x);
  const auto b = layer::unstack<-1>(a[1]);
  auto box = layer::crop<layer::offsets<0, 1, 0, 2>, 2, 3, 2>(x);
  auto again = layer::crop<layer::offsets<0, 0, 1, 3>>(x, box);
  return std::tuple{layer::mean(a[0] * a[2]) + layer::mean(b[0] * b[4]) + layer::mean(box * again),
                    a[0], b[3], box, again};
});

}  // namespace

TEST_CASE("argsort on the engine") {
  lamina::law::check_engine(orders);
  lamina::law::check_engine(column_orders, {.rows_are_alone = false});
}

TEST_CASE("argmax and argmin on the engine") { lamina::law::check_engine(ends, {.limit = 9}); }

TEST_CASE("scatter on the engine") {
  const lamina::law::engine_law_options options{
      .limit = 3, .rows_are_alone = false, .batches = {3, 17}};
  lamina::law::check_engine(scattered<true>, options);
  lamina::law::check_engine(scattered<false>, options);
  lamina::law::check_engine(table_rows, options);
}

TEST_CASE("unstack and crop on the engine") { lamina::law::check_engine(parts); }
