// SPDX-License-Identifier: Apache-2.0
// Results that have elements of an operand share its memory.
#include <tuple>
#include <vector>

#include "executor/shared_executor.hpp"
#include "laws/engine_law.hpp"
#include "program/user_operators.hpp"
#include <catch2/catch.hpp>
#include <laws/gradient_check.hpp>

#include <lamina/layers/layers.hpp>
#include <lamina/plan/aliasing.hpp>

namespace layer = lamina::layer;
using lamina::law::check_engine;
using user_operators::in_place;
using user_operators::on_threads;
using user_operators::same;
using user_operators::same_alias;

namespace {

/// How many of the variables that a program returns share the memory of another variable.
template <class P>
constexpr int shared(const P&) {
  using plan = lamina::plan<P>;
  int n = 0;
  for (int i = 0; i < P::desc.count.outputs; ++i) n += plan::same.shares(P::desc.outputs[i]);
  return n;
}

/// An array without rows of a batch, which the program computes.
template <int... D>
constexpr auto computed(lamina::block& main) {
  return layer::tanh(layer::create_parameter<float, D...>(main, {.name = "w"})) * 2.0;
}

/// The four gates of a step, and products of them.
template <int Hidden>
constexpr auto gates = lamina::program([](lamina::block& main) {
  auto x = computed<1, 4 * Hidden>(main);
  auto [a, b, c, d] = layer::split<4>(x);
  auto h = layer::sigmoid(a) * layer::tanh(b) + c * d;
  auto y = layer::fc<5>(h);
  return std::tuple{layer::mean(y * y), a, b, c, d};
});

/// Slices along the first dimension, which are read by rows, by columns and by several operators.
template <int Rows, int Columns>
constexpr auto slices = lamina::program([](lamina::block& main) {
  auto x = computed<4, Rows, Columns>(main);
  auto [a, b, c, d] = layer::unstack<0>(x);
  auto sum = a + b * c;
  auto all = layer::stack<0>({d, sum, c});
  return std::tuple{layer::mean(layer::fc<3>(b)) + layer::mean(sum * a), sum, all, a, b, c, d};
});

/// A part is added to the whole, which a group must not compute together with the whole.
constexpr auto whole_and_part = lamina::program([](lamina::block& main) {
  auto x = computed<4, 1, 64>(main);
  auto [a, b] = layer::split<layer::sections<1, 3>, 0>(x);
  auto [left, right] = layer::split<2>(layer::reshape<64>(a));
  auto y = x + layer::reshape<64>(a);
  return std::tuple{layer::mean(y * y), y, x * 3.0, layer::exp(left) * right, a, b};
});

/// The parts of a part, and a part of which the shape changes.
constexpr auto parts_of_parts = lamina::program([](lamina::block& main) {
  auto x = computed<2, 3, 64>(main);
  auto [a, b] = layer::unstack<0>(x);
  auto [c, d, e] = layer::unstack<0>(b);
  auto f = layer::reshape<4, 16>(d);
  return std::tuple{layer::mean(c * e) + layer::mean(f), c * e, f + 1.0, a, b, c, d, e, f};
});

/// Along an inner dimension, the parts are not contiguous.
constexpr auto inner = lamina::program([](lamina::block& main) {
  auto x = computed<1, 2, 64>(main);
  auto [a, b] = layer::split<2>(x);
  return std::tuple{layer::mean(a * b), a, b};
});

/// The parts of a parameter, and of a batch, are copied.
constexpr auto stored = lamina::program([](lamina::block& main) {
  auto [a, b] = layer::split<2>(layer::create_parameter<float, 1, 64>(main, {.name = "w"}));
  auto [c, d] = layer::split<2>(layer::tanh(layer::data<"y", float, 64>(main)));
  return std::tuple{layer::mean(a * b) + layer::mean(c * d), a, b, c, d};
});

/// In a program with a loop, a variable may have another value in each iteration.
constexpr auto looped = lamina::program([](lamina::block& main) {
  auto x = computed<1, 64>(main);
  auto i = layer::fill_constant<std::int64_t, 1>(main, 0);
  auto n = layer::fill_constant<std::int64_t, 1>(main, 3);
  auto going = layer::less_than(i, n);
  layer::while_loop(going, [&](lamina::block&) {
    auto [a, b] = layer::split<2>(x);
    layer::assign(layer::concat<1>(std::tuple{b, a * 0.5}), x);
    layer::increment(i);
    layer::less_than(i, n, going);
  });
  auto [a, b] = layer::split<2>(x);
  return std::tuple{layer::mean(a - b), a, b};
});

}  // namespace

TEST_CASE("parts that begin at whole vectors share the memory of the whole") {
  STATIC_REQUIRE(shared(gates<64>) == 4);
  STATIC_REQUIRE(shared(gates<16>) == 4);
  STATIC_REQUIRE(shared(slices<1, 32>) == 4);
  STATIC_REQUIRE(shared(slices<3, 48>) == 4);
  STATIC_REQUIRE(shared(slices<1, 21>) == 4);
  STATIC_REQUIRE(shared(whole_and_part) == 2);
  STATIC_REQUIRE(shared(parts_of_parts) == 6);
  check_engine(gates<64>);
  check_engine(gates<16>);
  check_engine(slices<1, 32>);
  check_engine(slices<3, 48>);
  check_engine(slices<1, 21>);
  check_engine(whole_and_part);
  check_engine(parts_of_parts);
}

TEST_CASE("other parts are copied") {
  STATIC_REQUIRE(shared(gates<12>) == 1);  // only the first part begins at a whole vector
  STATIC_REQUIRE(shared(gates<24>) == 2);
  STATIC_REQUIRE(shared(slices<3, 21>) == 0);  // the rows of a part have gaps
  STATIC_REQUIRE(shared(inner) == 0);
  STATIC_REQUIRE(shared(stored) == 0);
  check_engine(gates<12>);
  check_engine(gates<24>);
  check_engine(slices<3, 21>);
  check_engine(inner);
  STATIC_REQUIRE(shared(looped) == 0);
  check_engine(stored);
  check_engine(looped);
}

TEST_CASE("gradients of parts that share memory") {
  laws::check_gradients(lamina::program([](lamina::block& main) {
    auto w = layer::create_parameter<float, 1, 64>(main, {.name = "w"});
    auto x = layer::tanh(w) * 2.0;
    auto [a, b] = layer::split<2>(x);
    auto [c, d] = layer::unstack<0>(layer::reshape<2, 16>(a));
    return layer::mean(layer::square(c) * d) + layer::mean(a * b) + layer::mean(x * x);
  }));
}

TEST_CASE("an operator of a user's own whose result has its operand's elements shares its memory") {
  const std::vector<float> copied = on_threads<same>(5);
  CHECK_FALSE(in_place);
  CHECK(on_threads<same_alias>(5) == copied);
  CHECK(in_place);
}
