// SPDX-License-Identifier: Apache-2.0
// Operators that move, select, count or compare elements take the same element types on the
// interpreter as on the engine, and move integers without loss.
#include <numeric>

#include "run_program.hpp"
#include <catch2/catch.hpp>
#include <laws/engine_law.hpp>

#include <lamina/layers/layers.hpp>
#include <lamina/operators/control/array/layer.hpp>

namespace layer = lamina::layer;
using executed::returned_by;
using lamina::block;
using lamina::tensor;
using integer = std::int64_t;

namespace {

/// A cost without gradients, with which the engine runs as in training.
template <class T>
constexpr auto cost_of(lamina::variable<integer, lamina::batch, 1> index) {
  return layer::mean(
      layer::cast<std::conditional_t<std::is_same_v<T, double>, double, float>>(index));
}

template <class T>
constexpr auto moved = lamina::program([](block& main) {
  auto x = layer::data<"x", T, 2, 3>(main);
  auto y = layer::data<"y", T, 2, 3>(main);
  auto index = layer::data<"index", integer>(main);
  auto [first, rest] = layer::split<layer::sections<1, 2>>(x);
  auto [upper, lower] = layer::split<2, 1>(x);
  auto rows = layer::unstack<1>(x);
  auto sorted = layer::argsort(x);
  auto best = layer::topk<2>(x);
  auto found = layer::where<"found">(layer::cast<bool>(x));
  return std::tuple{cost_of<T>(index),
                    first,
                    rest,
                    upper,
                    lower,
                    rows[0],
                    rows[1],
                    layer::concat<2>({x, y}),
                    layer::stack<1>({x, y}),
                    layer::reshape<3, 2>(x),
                    layer::transpose<0, 2, 1>(x),
                    layer::squeeze<1>(layer::unsqueeze<1>(x)),
                    layer::flatten(x),
                    layer::slice<layer::along<2, 1, 3>>(x),
                    layer::crop<layer::offsets<0, 1, 1>, 1, 2>(x),
                    layer::pad<0, 0, 0, 1, 1, 0>(x, 1),
                    layer::expand<1, 2, 1>(x),
                    layer::gather(x, index),
                    layer::scatter(x, index, y),
                    layer::multiplex({x, y, x}, index),
                    layer::assign(x),
                    layer::cast<double>(x),
                    layer::cast<float>(x),
                    layer::cast<integer>(x),
                    layer::cast<std::int32_t>(x),
                    layer::cast<bool>(x),
                    std::get<0>(sorted),
                    std::get<1>(sorted),
                    std::get<0>(best),
                    std::get<1>(best),
                    layer::argmax<2>(x),
                    layer::argmin<1>(x),
                    layer::equal(x, y),
                    layer::not_equal(x, y),
                    layer::shape(x),
                    layer::is_empty(x),
                    found};
});

template <class T>
constexpr auto counted = lamina::program([](block& main) {
  auto x = layer::data<"x", T, 2, 3>(main);
  auto y = layer::data<"y", T, 2, 3>(main);
  auto index = layer::data<"index", integer>(main);
  auto flat = layer::flatten(x);
  auto more = layer::assign(x);
  return std::tuple{cost_of<T>(index),
                    layer::sum({x, y, x}),
                    layer::minus(x, y),
                    x + y,
                    x - y,
                    x * y,
                    layer::elementwise_max(x, y),
                    layer::elementwise_min(x, y),
                    layer::scale(x, 3, {.bias = -2}),
                    layer::scale(x, 0.5),
                    layer::clip(x, -3, 4),
                    layer::increment(more, 2),
                    layer::cumsum(x),
                    layer::cumsum<1>(x, {.exclusive = true, .reverse = true}),
                    layer::mean(x),
                    layer::reduce_sum<1>(x),
                    layer::reduce_sum(x),
                    layer::reduce_mean<2>(x),
                    layer::reduce_max<1, 2>(x),
                    layer::reduce_min<2>(x),
                    layer::reduce_prod<1>(x),
                    layer::accuracy<2>(flat, index),
                    layer::one_hot<3, T>(index),
                    layer::less_than(x, y),
                    layer::less_equal(x, y),
                    layer::greater_than(x, y),
                    layer::greater_equal(x, y)};
});

constexpr auto truths = lamina::program([](block& main) {
  auto x = layer::data<"x", bool, 2, 3>(main);
  auto y = layer::data<"y", bool, 2, 3>(main);
  auto index = layer::data<"index", integer>(main);
  return std::tuple{cost_of<bool>(index),       layer::logical_and(x, y), layer::logical_or(x, y),
                    layer::logical_xor(x, y),   layer::logical_not(x),    layer::reduce_all<1>(x),
                    layer::reduce_any<1, 2>(x), layer::sum({x, y})};
});

template <class T>
constexpr auto sequences = lamina::program([](block& main) {
  auto index = layer::data<"index", integer>(main);
  auto x = layer::sequence<"x", T, 2>(main);
  auto one = layer::data<"one", T, 2>(main);
  const auto [padded, length] = layer::sequence_pad<5>(x, 3);
  return std::tuple{cost_of<T>(index),
                    layer::sequence_reverse(x),
                    layer::sequence_concat<"both">(std::tuple{x, x}),
                    layer::sequence_expand(one, x),
                    layer::sequence_expand_as(one, x),
                    layer::sequence_reshape<"wide", 1>(x),
                    padded,
                    length,
                    layer::sequence_unpad<"again">(padded, length)};
});

template <class T>
constexpr auto arrays = lamina::program([](block& main) {
  auto x = layer::data<"x", T, 2, 3>(main);
  auto index = layer::data<"index", integer>(main);
  auto first = layer::fill_constant<integer>(main, 0);
  auto second = layer::fill_constant<integer>(main, 1);
  auto array = layer::array_write(x, first);
  layer::array_write(layer::assign(x), second, array);
  return std::tuple{cost_of<T>(index), layer::array_read(array, second),
                    layer::array_length(array)};
});

/// Different numbers, of which the last is `step` times 9, and bool takes each but 0 as true.
tensor numbers(integer step, integer first) {
  std::vector<integer> all(18);
  for (std::size_t i = 0; i < all.size(); ++i)
    all[i] = step * ((static_cast<integer>(i) * 7 + first) % 18 - 8);
  return tensor({3, 2, 3}, all);
}

/// Whether the engine computes a program of x, y and an index as the executor does.
template <class P>
void check(P program, integer step) {
  lamina::law::check_engine(program,
                            {.limit = 3,
                             .rows_are_alone = false,
                             .batches = {3},
                             .feed = {{"x", numbers(step, 0)},
                                      {"y", numbers(step, 5)},
                                      {"index", tensor({3, 1}, std::vector<integer>{2, 0, 1})}},
                             .given_rows = 3,
                             .edges = false});
}
template <class P>
void check_sequences(P program) {
  lamina::law::check_engine(program,
                            {.limit = 9, .rows_are_alone = false, .batches = {3}, .edges = false});
}

}  // namespace

TEST_CASE("operators that move elements take each type on the interpreter as on the engine") {
  check(moved<integer>, integer{1} << 40);
  check(moved<std::int32_t>, 1 << 20);
  check(moved<bool>, 1);
  check(moved<double>, 1);
  check(moved<float>, 1);
}

TEST_CASE("operators that count and compare take each type on the interpreter as on the engine") {
  check(counted<integer>, 1 << 10);
  check(counted<std::int32_t>, 1);
  check(counted<double>, 1);
  check(truths, 1);
}

TEST_CASE("operators of sequences and arrays take each type on the interpreter as on the engine") {
  check_sequences(sequences<integer>);
  check_sequences(sequences<bool>);
  check_sequences(sequences<double>);
  check(arrays<integer>, integer{1} << 40);
  check(arrays<bool>, 1);
  check(arrays<double>, 1);
}

TEST_CASE("the interpreter moves and counts integers beyond what a double holds") {
  constexpr auto program = lamina::program([](block& main) {
    auto x = layer::data<"x", integer, 2>(main);
    auto y = layer::data<"y", integer, 2>(main);
    auto index = layer::data<"index", integer>(main);
    auto [first, second] = layer::split<2>(x);
    auto more = layer::assign(x);
    return std::tuple{first,
                      second,
                      layer::unstack<1>(x)[1],
                      layer::stack<1>({x, y}),
                      layer::concat<1>({x, y}),
                      layer::gather(x, index),
                      std::get<0>(layer::topk<1>(x)),
                      layer::argmax<1>(x),
                      layer::sum({x, y}),
                      layer::minus(x, y),
                      layer::scale(x, -1, {.bias = 1}),
                      layer::clip(x, 0, 9),
                      layer::increment(more, 3),
                      layer::cumsum(x),
                      layer::reduce_sum(x),
                      layer::reduce_max(x),
                      layer::reduce_min(x),
                      layer::reduce_prod<1>(x),
                      layer::reduce_mean(y)};
  });
  const integer a = (integer{1} << 60) + 1, b = a + 1;
  const lamina::feed_map feed{{"x", tensor({1, 2}, std::vector<integer>{a, b})},
                              {"y", tensor({1, 2}, std::vector<integer>{5, -10})},
                              {"index", tensor({1, 1}, std::vector<integer>{0})}};
  const integer product = 3 * (integer{1} << 60) + 2;  // 64 bits of 2^120 + 3 2^60 + 2
  const std::vector<std::vector<integer>> expected{{a},
                                                   {b},
                                                   {b},
                                                   {a, b, 5, -10},
                                                   {a, b, 5, -10},
                                                   {a, b},
                                                   {b},
                                                   {1},
                                                   {a + 5, b - 10},
                                                   {a - 5, b + 10},
                                                   {1 - a, 1 - b},
                                                   {9, 9},
                                                   {a + 3, b + 3},
                                                   {a, a + b},
                                                   {a + b},
                                                   {b},
                                                   {a},
                                                   {product},
                                                   {-2}};
  const auto found = returned_by(program, feed);
  REQUIRE(found.size() == expected.size());
  for (std::size_t i = 0; i < found.size(); ++i) {
    INFO("result " << i);
    const xt::xarray<integer> values = found[i].as<integer>();
    CHECK(std::vector<integer>(values.begin(), values.end()) == expected[i]);
  }
}

TEST_CASE("a mean of small integers divides by more elements than their type counts") {
  constexpr auto program = lamina::program([](block& main) {
    auto x = layer::data<"x", std::int8_t, 256>(main);
    return std::tuple{layer::mean(layer::cast<float>(x)), layer::reduce_mean<1>(x)};
  });
  lamina::law::check_engine(program, {.limit = 1, .batches = {2}, .edges = false});
}

TEST_CASE("the interpreter joins doubles of both origins in a program in float") {
  // One double comes from an integer and keeps its digits, the other from a float.
  constexpr auto program = lamina::program([](block& main) {
    auto n = layer::cast<double>(layer::data<"n", integer, 1>(main));
    auto x = layer::cast<double>(layer::data<"x", float, 1>(main));
    return std::tuple{layer::concat<1>({n, x}), layer::concat<1>({x, n}), layer::stack<1>({n, x}),
                      layer::stack<1>({x, n}), layer::sum({n, x})};
  });
  const auto r = returned_by(program, {{"n", tensor({1, 1}, std::vector<integer>{3})},
                                       {"x", tensor({1, 1}, std::vector<float>{0.5f})}});
  using executed::values_of;
  for (const std::size_t i : {0u, 2u}) CHECK(values_of(r[i]) == std::vector<double>{3, 0.5});
  for (const std::size_t i : {1u, 3u}) CHECK(values_of(r[i]) == std::vector<double>{0.5, 3});
  CHECK(values_of(r[4]) == std::vector<double>{3.5});
}
