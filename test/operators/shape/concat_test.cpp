// SPDX-License-Identifier: Apache-2.0
// Arrays that are joined, cut out, padded and repeated: gradients, the engine against the executor.
#include <tuple>

#include "executor/shared_executor.hpp"
#include "laws/engine_law.hpp"
#include <catch2/catch.hpp>
#include <laws/gradient_check.hpp>

#include <lamina/layers/layers.hpp>

namespace layer = lamina::layer;
using lamina::block;
using lamina::program;
using lamina::law::check_engine;

namespace {

template <int W>
constexpr auto joined = program([](block& main) {
  auto x = layer::data<"x", float, W, 2>(main);
  auto y = layer::data<"y", float, 3, 2>(main);
  auto along_rows = layer::concat<1>(std::tuple{x, y, x});
  auto wide = layer::concat<-1>({x, x * 2.0});
  auto piled = layer::stack<1>({x, x * x, x});
  auto last = layer::stack<3>({x, x * 3.0});
  auto cost = layer::mean(along_rows * along_rows) + layer::mean(wide * wide) +
              layer::mean(piled * piled) + layer::mean(last * last);
  return std::tuple{cost, along_rows, wide, piled, last};
});

template <int W>
constexpr auto parted = program([](block& main) {
  auto x = layer::data<"x", float, W + 3, 4>(main);
  auto [a, b] = layer::split<layer::sections<W, 3>, 1>(x);
  auto [c, d] = layer::split<2>(x);
  auto cut = layer::slice<layer::along<1, -3, 99>, layer::along<2, 1, 3>>(x);
  auto wider = layer::pad<0, 0, 1, 2, 3, 0>(cut, 0.5f);
  auto many = layer::expand<1, 2, 3>(cut);
  auto cost = layer::mean(a * a) + layer::mean(b) + layer::mean(c * c) +
              layer::mean(wider * wider) + layer::mean(many * many * many);
  return std::tuple{cost, a, b, c, d, cut, wider, many};
});

}  // namespace

TEST_CASE("concat and stack on the engine are those of the executor") {
  check_engine(joined<1>);
  check_engine(joined<5>);
  check_engine(joined<16>);
}

TEST_CASE("split, slice, pad and expand on the engine are those of the executor") {
  check_engine(parted<1>);
  check_engine(parted<5>);
  check_engine(parted<13>);
}

TEST_CASE("gradient: concat, split, stack, slice, pad, expand") {
  laws::check_gradients(lamina::program([](block& main) {
    auto x = layer::data<"x", float, 3>(main);
    auto y = layer::data<"y", float, 2>(main);
    auto joined = layer::concat(std::tuple{x, y, x});
    auto [a, b] = layer::split<2>(joined);
    auto piled = layer::stack<1>({a * b, a});
    auto part = layer::slice<layer::along<1, 0, 1>, layer::along<2, -3, 9>>(piled);
    auto wide = layer::expand<1, 2, 1>(part);
    return layer::mean(layer::square(layer::pad<0, 0, 0, 0, 1, 0>(wide)) * piled);
  }));
}

TEST_CASE("gradient: parts of a split that nothing reads count as zeros") {
  laws::check_gradients(lamina::program([](block& main) {
    auto x = layer::data<"x", float, 6>(main);
    auto [a, b, c] = layer::split<3>(x);
    (void)b;
    return layer::mean(layer::square(a) * c);
  }));
}
