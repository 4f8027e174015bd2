// SPDX-License-Identifier: Apache-2.0
// argsort, argmax, argmin, scatter, unstack and crop: values by hand, gradients, the engine.
#include <limits>
#include <tuple>

#include "executor/run_program.hpp"
#include "laws/engine_law.hpp"
#include <catch2/catch.hpp>
#include <laws/gradient_check.hpp>

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

tensor ids(const std::vector<std::int64_t>& v) { return tensor({v.size(), 1}, v); }

}  // namespace

TEST_CASE("argsort by hand: both directions, equal elements keep their order, NaN is the largest") {
  constexpr auto net = lamina::program([](block& main) {
    auto x = layer::data<"x", float, 4>(main);
    auto [up, rising] = layer::argsort(x);
    auto [down, falling] = layer::argsort(x, {.descending = true});
    auto [columns, places] = layer::argsort<0>(x);
    return std::tuple{up, rising, down, falling, columns, places};
  });
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const auto r = returned_by(net, {{"x", of({2, 4}, {3, 1, 3, 2, 0, 5, -1, 5})}});
  CHECK(values_of(r[0]) == values{1, 2, 3, 3, -1, 0, 5, 5});
  CHECK(values_of(r[1]) == values{1, 3, 0, 2, 2, 0, 1, 3});
  CHECK(values_of(r[2]) == values{3, 3, 2, 1, 5, 5, 0, -1});
  CHECK(values_of(r[3]) == values{0, 2, 3, 1, 1, 3, 0, 2});
  CHECK(values_of(r[4]) == values{0, 1, -1, 2, 3, 5, 3, 5});
  CHECK(values_of(r[5]) == values{1, 0, 1, 0, 0, 1, 0, 1});
  const auto n = returned_by(net, {{"x", of({1, 4}, {1, nan, -2, 0})}});
  CHECK(values_of(n[1]) == values{2, 3, 0, 1});
  CHECK(values_of(n[3]) == values{1, 0, 3, 2});
}

TEST_CASE(
    "argmax and argmin by hand: the first of equal ones, of rows, columns and whole numbers") {
  constexpr auto net = lamina::program([](block& main) {
    auto x = layer::data<"x", float, 3>(main);
    auto n = layer::data<"n", std::int64_t, 2, 2>(main);
    return std::tuple{layer::argmax<1>(x), layer::argmin<-1>(x),
                      layer::argmax(x),    layer::argmin(layer::argmin(x)),
                      layer::argmax<2>(n), layer::argmin<1>(n)};
  });
  const auto r = returned_by(
      net, {{"x", of({2, 3}, {1, 4, 4, 0, 7, -3})},
            {"n", tensor({2, 2, 2}, std::vector<std::int64_t>{1, 2, 4, 3, 9, 9, 0, 1})}});
  CHECK(r[0].shape() == lamina::tensor_shape{2});
  CHECK(values_of(r[0]) == values{1, 1});
  CHECK(values_of(r[1]) == values{0, 2});
  CHECK(r[2].shape() == lamina::tensor_shape{3});
  CHECK(values_of(r[2]) == values{0, 1, 0});
  CHECK(r[3].shape() == lamina::tensor_shape{1});
  CHECK(values_of(r[3]) == values{1});
  CHECK(values_of(r[4]) == values{1, 0, 0, 1});
  CHECK(values_of(r[5]) == values{0, 0, 1, 1});
  CHECK_THROWS_WITH(returned_by(net, {{"x", tensor::zeros(lamina::dtype::float32, {0, 3})},
                                      {"n", tensor::zeros(lamina::dtype::int64, {0, 2, 2})}}),
                    Catch::Contains("expected elements along dimension 0, found none"));
}

TEST_CASE("scatter by hand: the last of equal ids, or their sum in place of what was there") {
  constexpr auto net = lamina::program([](block& main) {
    auto x = layer::data<"x", float, 2>(main);
    auto at = layer::sequence<"at", std::int64_t>(main);
    auto with = layer::sequence<"with", float, 2>(main);
    auto same = layer::lod_reset(with, at);
    return std::tuple{layer::scatter(x, at, same),
                      layer::scatter(x, at, same, {.overwrite = false})};
  });
  lamina::feed_map feed{
      {"x", of({3, 2}, {1, 2, 3, 4, 5, 6})},
      {"at", lamina::lod_tensor(ids({2, 0, 2, 2}), lamina::lod::from_lengths({{4, 0, 0}}))},
      {"with", lamina::lod_tensor(of({4, 2}, {1, 1, 10, 20, 2, 2, 4, 8}),
                                  lamina::lod::from_lengths({{4, 0, 0}}))}};
  const auto r = returned_by(net, feed);
  CHECK(values_of(r[0]) == values{10, 20, 3, 4, 4, 8});
  CHECK(values_of(r[1]) == values{10, 20, 3, 4, 7, 11});
  feed["at"] = lamina::lod_tensor(ids({2, 0, 3, 2}), lamina::lod::from_lengths({{4, 0, 0}}));
  CHECK_THROWS_WITH(returned_by(net, feed),
                    Catch::Contains("layer scatter_0") && Catch::Contains("found 3"));
}

TEST_CASE("unstack and crop by hand") {
  constexpr auto net = lamina::program([](block& main) {
    auto x = layer::data<"x", float, 2, 3>(main);
    auto like = layer::data<"like", float, 1, 2>(main);
    const auto parts = layer::unstack<1>(x);
    static_assert(std::tuple_size_v<std::remove_const_t<decltype(parts)>> == 2);
    const auto columns = layer::unstack<-1>(x);
    return std::tuple{parts[0], parts[1], columns[2], layer::crop<layer::offsets<0, 1, 1>>(x, like),
                      layer::crop<layer::offsets<0, 0, 1>, 2, 1>(x)};
  });
  const auto r = returned_by(net, {{"x", of({2, 2, 3}, {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11})},
                                   {"like", of({2, 1, 2}, {0, 0, 0, 0})}});
  CHECK(r[0].shape() == lamina::tensor_shape{2, 3});
  CHECK(values_of(r[0]) == values{0, 1, 2, 6, 7, 8});
  CHECK(values_of(r[1]) == values{3, 4, 5, 9, 10, 11});
  CHECK(values_of(r[2]) == values{2, 5, 8, 11});
  CHECK(r[3].shape() == lamina::tensor_shape{2, 1, 2});
  CHECK(values_of(r[3]) == values{4, 5, 10, 11});
  CHECK(values_of(r[4]) == values{1, 4, 7, 10});
}

TEST_CASE("gradients of argsort, scatter, unstack and crop are difference quotients") {
  SECTION("argsort") {
    laws::check_gradients(lamina::program([](block& main) {
      auto x = layer::data<"x", float, 3, 4>(main);
      auto [a, i] = layer::argsort<1>(x);
      auto [b, j] = layer::argsort(x, {.descending = true});
      return layer::mean(layer::square(a + 1.0f) * b * x);
    }));
  }
  SECTION("scatter") {
    const lamina::feed_map feed{{"at", ids({2, 0, 2})}};
    laws::check_gradients(lamina::program([](block& main) {
                            auto x = layer::data<"x", float, 2>(main);
                            auto at = layer::data<"at", std::int64_t>(main);
                            auto with = layer::data<"with", float, 2>(main);
                            auto y = layer::scatter(x, at, with);
                            return layer::mean(layer::square(y + x) * y);
                          }),
                          feed);
    laws::check_gradients(lamina::program([](block& main) {
                            auto x = layer::data<"x", float, 2>(main);
                            auto at = layer::data<"at", std::int64_t>(main);
                            auto y = layer::scatter(x, at, layer::square(x), {.overwrite = false});
                            return layer::mean(layer::square(y + x) * y);
                          }),
                          feed);
  }
  SECTION("unstack and crop") {
    laws::check_gradients(lamina::program([](block& main) {
      auto x = layer::data<"x", float, 2, 3>(main);
      const auto parts = layer::unstack<2>(x);
      auto boxes = layer::crop<layer::offsets<0, 1, 0>, 1, 2>(x);
      auto small = layer::crop<layer::offsets<0, 0, 1>>(x, boxes);
      return layer::mean(layer::square(parts[0]) * parts[2]) + layer::mean(boxes * small);
    }));
  }
}

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
