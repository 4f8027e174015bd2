// SPDX-License-Identifier: Apache-2.0
// shape, is_empty, where, range, multiplex, minus, l1_norm, squared_l2_norm and squared_l2_distance
// on the compiled engine, against the executor.
#include <tuple>

#include "laws/engine_law.hpp"
#include <catch2/catch.hpp>

#include <lamina/layers/layers.hpp>

namespace layer = lamina::layer;
using lamina::block;
using lamina::program;

namespace {

constexpr auto queries = program([](block& main) {
  auto x = layer::data<"x", float, 2, 3>(main);
  auto s = layer::sequence<"s", float, 4>(main);
  return std::tuple{
      layer::shape(x),    layer::is_empty(x),           layer::shape(s),
      layer::is_empty(s), layer::range<1, 40, 3>(main), layer::range<float, 7, -9, -4>(main)};
});
constexpr auto places = program([](block& main) {
  auto x = layer::data<"x", float, 3, 5>(main);
  auto s = layer::sequence<"s", std::int64_t, 2>(main);
  auto zero = layer::fill_constant<float, 3, 5>(main, 0);
  return std::tuple{layer::where<"found">(layer::greater_than(x, zero)), layer::where<"kept">(s)};
});
constexpr auto choices = program([](block& main) {
  auto x = layer::data<"x", float, 2, 9>(main);
  auto y = layer::data<"y", float, 2, 9>(main);
  auto ids = layer::data<"ids", std::int64_t>(main);
  auto z = layer::multiplex({x, y, x * y}, ids);
  auto d = layer::minus(z, y);
  return std::tuple{layer::mean(d * z), z, d, layer::multiplex({ids, ids + ids}, ids - ids)};
});
constexpr auto distances = program([](block& main) {
  auto x = layer::data<"x", float, 3, 7>(main);
  auto y = layer::data<"y", float, 3, 7>(main);
  auto one = layer::reshape<1, 3, 7>(layer::reduce_sum<0>(y));
  auto a = layer::squared_l2_distance(x, y), b = layer::squared_l2_distance(x, one);
  auto l1 = layer::l1_norm(x), l2 = layer::squared_l2_norm(y);
  return std::tuple{layer::mean(a * b) + l1 * l2 * 0.001f, a, b, l1, l2};
});

}  // namespace

TEST_CASE("shape, is_empty and range on the engine") {
  lamina::law::check_engine(queries, {.rows_are_alone = false});
}

TEST_CASE("where on the engine: places that it makes rows for") {
  lamina::law::check_engine(places, {.limit = 3});
}

TEST_CASE("multiplex and minus on the engine") { lamina::law::check_engine(choices, {.limit = 2}); }

TEST_CASE("norms of all elements and squared distances on the engine") {
  lamina::law::check_engine(distances, {.rows_are_alone = false});
}
