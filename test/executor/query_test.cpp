// SPDX-License-Identifier: Apache-2.0
// shape, is_empty, where, range, multiplex, minus, l1_norm, squared_l2_norm and squared_l2_distance
// on the interpreter: values by hand, gradients by difference quotients.
#include "run_program.hpp"
#include <catch2/catch.hpp>
#include <laws/gradient_check.hpp>

#include <lamina/layers/layers.hpp>

namespace layer = lamina::layer;
using executed::returned_by;
using executed::values_of;
using lamina::block;
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
                    Catch::Contains("'multiplex'") && Catch::Contains("found 2"));
}

TEST_CASE("norms and distances by hand") {
  constexpr auto net = lamina::program([](block& main) {
    auto x = layer::data<"x", float, 2>(main);
    auto y = layer::data<"y", float, 2>(main);
    auto one = layer::fill_constant<float, 1, 2>(main, 1);
    return std::tuple{layer::l1_norm(x), layer::squared_l2_norm(x),
                      layer::squared_l2_distance(x, y), layer::squared_l2_distance(x, one)};
  });
  const auto r =
      returned_by(net, {{"x", of({2, 2}, {1, -2, 3, 0})}, {"y", of({2, 2}, {0, 2, 3, 4})}});
  CHECK(values_of(r[0]) == values{6});
  CHECK(values_of(r[1]) == values{14});
  CHECK(r[2].shape() == lamina::tensor_shape{2, 1});
  CHECK(values_of(r[2]) == values{17, 16});
  CHECK(values_of(r[3]) == values{9, 5});
}

TEST_CASE("gradients of multiplex, minus, norms and distances are difference quotients") {
  laws::check_gradients(lamina::program([](block& main) {
                          auto x = layer::data<"x", float, 2, 3>(main);
                          auto y = layer::data<"y", float, 2, 3>(main);
                          auto ids = layer::data<"ids", std::int64_t>(main);
                          auto z = layer::multiplex({x, layer::square(y), x * y}, ids);
                          return layer::mean(layer::minus(z, x) * z);
                        }),
                        {{"ids", tensor({3, 1}, std::vector<std::int64_t>{2, 1, 0})}});
  laws::check_gradients(lamina::program([](block& main) {
    auto x = layer::data<"x", float, 2, 3>(main);
    auto y = layer::data<"y", float, 2, 3>(main);
    auto one = layer::reshape<1, 2, 3>(layer::reduce_sum<0>(layer::square(y)));
    auto far = layer::squared_l2_distance(x, y) * layer::squared_l2_distance(y, one);
    return layer::mean(far) + layer::l1_norm(x) * layer::squared_l2_norm(y);
  }));
}
