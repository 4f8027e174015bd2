// SPDX-License-Identifier: Apache-2.0
// shape, is_empty, where, range, multiplex and minus: values by hand, gradients, the engine.
#include <tuple>

#include "executor/run_program.hpp"
#include "laws/engine_law.hpp"
#include <catch2/catch.hpp>

#include <lamina/layers/layers.hpp>

namespace layer = lamina::layer;
using executed::returned_by;
using executed::values_of;
using lamina::block;
using lamina::program;
using lamina::tensor;

namespace {

using values = std::vector<double>;

tensor of(lamina::tensor_shape shape, const std::vector<float>& v) { return tensor(shape, v); }

}  // namespace

TEST_CASE("shape and is_empty by hand: rows count") {
  constexpr auto net = lamina::program([](block& main) {
    auto x = layer::data<"x", float, 2, 3>(main);
    auto one = layer::fill_constant<float, 4, 5>(main, 0);
    return std::tuple{layer::shape(x), layer::is_empty(x), layer::shape(one), layer::is_empty(one)};
  });
  const auto r = returned_by(net, {{"x", tensor::zeros(lamina::dtype::float32, {7, 2, 3})}});
  CHECK(values_of(r[0]) == values{7, 2, 3});
  CHECK(values_of(r[1]) == values{0});
  CHECK(r[1].type() == lamina::dtype::boolean);
  CHECK(values_of(r[2]) == values{4, 5});
  CHECK(values_of(r[3]) == values{0});
  const auto e = returned_by(net, {{"x", tensor::zeros(lamina::dtype::float32, {0, 2, 3})}});
  CHECK(values_of(e[0]) == values{0, 2, 3});
  CHECK(values_of(e[1]) == values{1});
}

TEST_CASE("where by hand: a sequence of positions for each row, and of each row of sequences") {
  constexpr auto net = lamina::program([](block& main) {
    auto x = layer::data<"x", float, 2, 2>(main);
    auto s = layer::sequence<"s", std::int64_t>(main);
    return std::tuple{layer::where<"found">(x), layer::where<"of_rows">(s)};
  });
  const auto r =
      returned_by(net, {{"x", of({3, 2, 2}, {0, 1, 2, 0, 0, 0, 0, 0, 0, 0, 0, 5})},
                        {"s", lamina::lod_tensor(tensor({3, 1}, std::vector<std::int64_t>{4, 0, 1}),
                                                 lamina::lod::from_lengths({{2, 0, 1}}))}});
  CHECK(values_of(r[0]) == values{0, 0, 1, 0, 1, 0, 2, 1, 1});
  CHECK(r[0].shape() == lamina::tensor_shape{3, 3});
  CHECK(r[0].lod().recursive_sequence_lengths()[0] == lamina::lod::level{2, 0, 1});
  CHECK(values_of(r[1]) == values{0, 0, 2, 0});
  CHECK(r[1].lod().recursive_sequence_lengths()[0] == lamina::lod::level{2, 0, 1});
  CHECK(r[1].lod().recursive_sequence_lengths()[1] == lamina::lod::level{1, 0, 1});
}

TEST_CASE("range by hand: up, down, of other types") {
  constexpr auto net = lamina::program([](block& main) {
    return std::tuple{layer::range<0, 10, 3>(main), layer::range<5, 1, -2>(main),
                      layer::range<float, -1, 2>(main)};
  });
  const auto r = returned_by(net, {});
  CHECK(values_of(r[0]) == values{0, 3, 6, 9});
  CHECK(r[0].type() == lamina::dtype::int64);
  CHECK(values_of(r[1]) == values{5, 3});
  CHECK(values_of(r[2]) == values{-1, 0, 1});
  CHECK(r[2].type() == lamina::dtype::float32);
}

TEST_CASE("multiplex and minus by hand") {
  constexpr auto net = lamina::program([](block& main) {
    auto x = layer::data<"x", float, 2>(main);
    auto y = layer::data<"y", float, 2>(main);
    auto ids = layer::data<"ids", std::int32_t>(main);
    return std::tuple{layer::multiplex({x, y}, ids), layer::minus(x, y)};
  });
  lamina::feed_map feed{{"x", of({3, 2}, {1, 2, 3, 4, 5, 6})},
                        {"y", of({3, 2}, {10, 20, 30, 40, 50, 60})},
                        {"ids", tensor({3, 1}, std::vector<std::int32_t>{1, 0, 1})}};
  const auto r = returned_by(net, feed);
  CHECK(values_of(r[0]) == values{10, 20, 3, 4, 50, 60});
  CHECK(values_of(r[1]) == values{-9, -18, -27, -36, -45, -54});
  feed["ids"] = tensor({3, 1}, std::vector<std::int32_t>{1, 2, 1});
  CHECK_THROWS_WITH(returned_by(net, feed),
                    Catch::Contains("layer multiplex_0") && Catch::Contains("found 2"));
}

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

}  // namespace

TEST_CASE("shape, is_empty and range on the engine") {
  lamina::law::check_engine(queries, {.rows_are_alone = false});
}

TEST_CASE("where on the engine: places that it makes rows for") {
  lamina::law::check_engine(places, {.limit = 3});
}

TEST_CASE("multiplex and minus on the engine") { lamina::law::check_engine(choices, {.limit = 2}); }
