// SPDX-License-Identifier: Apache-2.0
// Loops: values, handles as C++ variables, errors; loops inside of loops on the engine.

#include "executor/whole_numbers.hpp"
#include "laws/recorded_pieces.hpp"
#include <catch2/catch.hpp>

#include <lamina/layers/layers.hpp>
#include <lamina/operators/control/array/layer.hpp>
#include <lamina/operators/control/block/layer_while.hpp>
#include <lamina/operators/control/rnn/layer_dynamic.hpp>
#include <lamina/operators/control/rnn/layer_static.hpp>
#include <lamina/program/program.hpp>

namespace layer = lamina::layer;
using Catch::Contains;
using lamina::block;
using lamina::lod_tensor;

using namespace whole_numbers;

namespace {

template <integer Start>
constexpr auto collatz = lamina::program([](block& main) {
  auto n = constant(main, Start), one = constant(main, 1), two = constant(main, 2);
  auto length = constant(main, 0);
  auto going = layer::greater_than(n, one);
  layer::while_loop(going, [&](block&) {
    auto odd = layer::elementwise_mod(n, two);
    n = (1 - odd) * layer::elementwise_floordiv(n, two) + odd * (3 * n + 1);
    layer::increment(length);
    layer::greater_than(n, one, going);
  });
  return std::tuple{length, n};
});

template <integer A, integer B>
constexpr auto gcd = lamina::program([](block& main) {
  auto a = constant(main, A), b = constant(main, B), zero = constant(main, 0);
  auto going = layer::not_equal(b, zero);
  layer::while_loop(going, [&](block&) {
    auto rest = layer::elementwise_mod(a, b);
    a = b;  // what b carries, before b changes
    b = rest;
    layer::not_equal(b, zero, going);
  });
  return a;
});

// Rule 110 on a ring of 16 cells: 1 where the cell or its right neighbour is, unless all three are.
template <int Cells>
constexpr auto automaton = lamina::program([](block& main) {
  using row = lamina::variable<integer, lamina::once, Cells>;
  row cells = layer::concat<0>(std::tuple{layer::fill_constant<integer, Cells - 1>(main, 0),
                                          layer::fill_constant<integer, 1>(main, 1)});
  auto t = constant(main, 0), end = constant(main, 12);
  auto history = layer::create_array<row>(main);
  auto going = layer::less_than(t, end);
  layer::while_loop(going, [&](block&) {
    layer::array_write(cells, t, history);
    auto last = layer::slice<layer::along<0, Cells - 1, Cells>>(cells);
    auto first = layer::slice<layer::along<0, 0, 1>>(cells);
    row left =
        layer::concat<0>(std::tuple{last, layer::slice<layer::along<0, 0, Cells - 1>>(cells)});
    row right = layer::concat<0>(std::tuple{layer::slice<layer::along<0, 1, Cells>>(cells), first});
    cells = cells + right - cells * right - left * cells * right;
    layer::increment(t);
    layer::less_than(t, end, going);
  });
  return std::tuple{layer::array_read(history, constant(main, 6)), cells,
                    layer::array_length(history)};
});

template <integer N>
constexpr auto triangle = lamina::program([](block& main) {
  auto i = constant(main, 0), n = constant(main, N), sum = constant(main, 0),
       inner_runs = constant(main, 0);
  auto outer = layer::less_than(i, n);
  layer::while_loop(outer, [&](block& body) {
    auto j = constant(body, 0);
    auto inner = layer::less_than(j, i);
    layer::while_loop(inner, [&](block&) {
      sum = sum + j;
      layer::increment(inner_runs);  // written in the inner loop only
      layer::increment(j);
      layer::less_than(j, i, inner);
    });
    layer::increment(i);
    layer::less_than(i, n, outer);
  });
  return std::tuple{sum, inner_runs, i};
});

}  // namespace

TEST_CASE("a loop computes lengths of Collatz sequences") {
  CHECK(all_values(collatz<1>) == numbers{0, 1});
  CHECK(all_values(collatz<6>) == numbers{8, 1});
  CHECK(all_values(collatz<27>) == numbers{111, 1});
}

TEST_CASE("a loop computes greatest common divisors") {
  CHECK(all_values(gcd<48, 36>) == numbers{12});
  CHECK(all_values(gcd<36, 48>) == numbers{12});
  CHECK(all_values(gcd<17, 5>) == numbers{1});
  CHECK(all_values(gcd<9, 0>) == numbers{9});
  CHECK(all_values(gcd<1071, 462>) == numbers{21});
}

TEST_CASE("a loop runs a cellular automaton and keeps its history in an array") {
  constexpr int n = 16;
  numbers cells(n, 0), sixth;
  cells[n - 1] = 1;
  for (int t = 0; t < 12; ++t) {
    if (t == 6) sixth = cells;
    numbers next(n);
    for (int i = 0; i < n; ++i) {
      const integer l = cells[(i + n - 1) % n], c = cells[i], r = cells[(i + 1) % n];
      next[i] = (c || r) && !(l && c && r);
    }
    cells = next;
  }
  const auto found = run(automaton<n>);
  CHECK(values_of(found[0]) == sixth);
  CHECK(values_of(found[1]) == cells);
  CHECK(values_of(found[2]) == numbers{12});
}

TEST_CASE("nested loops, the inner one with no, one and more iterations") {
  CHECK(all_values(triangle<0>) == numbers{0, 0, 0});
  CHECK(all_values(triangle<1>) == numbers{0, 0, 1});
  CHECK(all_values(triangle<5>) == numbers{10, 10, 5});
}

TEST_CASE("a loop over rows stops by its data; parameters of a body are made once") {
  constexpr auto net = lamina::program([](block& main) {
    auto x = layer::data<"x", float, 3>(main);
    auto limit = layer::fill_constant<float>(main, 1);
    auto runs = constant(main, 0);
    auto going = layer::greater_than(layer::reduce_max(layer::abs(x)), limit);
    layer::while_loop(going, [&](block&) {
      x = layer::scale(x, 0.5f) + 0 * layer::fc<3>(x);
      layer::increment(runs);
      layer::greater_than(layer::reduce_max(layer::abs(x)), limit, going);
    });
    return std::tuple{runs, x};
  });
  static_assert(net.parameter_count() == 12);
  const lod_tensor x(lamina::tensor({2, 3}, std::vector<float>{1, -20, 3, 4, 8, 16}));
  const auto found = run(net, {{"x", x}});
  CHECK(values_of(found[0]) == numbers{5});
  CHECK(found[1].cast<double>().flat(1) == Approx(-0.625));
  const lod_tensor small(lamina::tensor({1, 3}, std::vector<float>{0.5f, -1, 0}));
  CHECK(values_of(run(net, {{"x", small}})[0]) == numbers{0});
}

TEST_CASE("a condition that stays true is an error that names it") {
  constexpr auto net = lamina::program([](block& main) {
    auto i = constant(main, 0);
    auto going = layer::equal(i, i);
    layer::while_loop(going,
                      [&](block&) {
                        layer::increment(i);
                        layer::equal(i, i, going);
                      },
                      {.name = "endless"});
    return i;
  });
  lamina::run_options options;
  options.iterations = 50;
  CHECK_THROWS_WITH(run(net, {}, options),
                    Contains("condition 'endless.tmp_") && Contains("false after 50 iterations"));
}

TEST_CASE("arrays: slots, overwriting, length, a new one each iteration") {
  constexpr auto net = lamina::program([](block& main) {
    auto zero = constant(main, 0), two = constant(main, 2);
    auto a = layer::array_write(constant(main, 7), zero);
    layer::array_write(constant(main, 9), two, a);
    layer::array_write(constant(main, 8), zero, a);
    auto i = constant(main, 0), longest = constant(main, 0);
    auto going = layer::less_than(i, two);
    layer::while_loop(going, [&](block& body) {
      auto fresh = layer::create_array<number>(body);
      layer::array_write(i, zero, fresh);
      longest = layer::elementwise_max(longest, layer::array_length(fresh));
      layer::increment(i);
      layer::less_than(i, two, going);
    });
    return std::tuple{layer::array_read(a, zero), layer::array_read(a, two), layer::array_length(a),
                      longest};
  });
  CHECK(all_values(net) == numbers{8, 9, 3, 1});
  constexpr auto hole = lamina::program([](block& main) {
    auto a = layer::array_write(constant(main, 7), constant(main, 3), {.name = "a"});
    return layer::array_read(a, constant(main, 1));
  });
  CHECK_THROWS_WITH(run(hole), Contains("index 1 of array 'a.tmp_0', which has 4 values"));
  constexpr auto behind = lamina::program([](block& main) {
    auto a = layer::array_write(constant(main, 7), constant(main, 3));
    return layer::array_read(a, constant(main, 4));
  });
  CHECK_THROWS_WITH(run(behind), Contains("expected a value at index 4"));
}
