// SPDX-License-Identifier: Apache-2.0
// Shapes, parts and orders on the compiled engine: what it computes is what the executor does.
#include <tuple>

#include "laws/engine_law.hpp"
#include <catch2/catch.hpp>

#include <lamina/layers/layers.hpp>

namespace layer = lamina::layer;
using lamina::block;
using lamina::program;
using lamina::law::check_engine;

namespace {

/// A cost whose gradient differs from element to element, and the value itself.
template <class V>
constexpr auto squared(V y) {
  return std::tuple{layer::mean(y * y), y};
}

template <int W>
constexpr auto reshaped = program([](block& main) {
  auto x = layer::data<"x", float, 2, W, 3>(main);
  auto flat = layer::reshape<-1>(x);
  auto back = layer::reshape<3, 2 * W>(flat * 2.0);
  auto thin = layer::squeeze<1>(layer::unsqueeze<1>(back));
  return squared(layer::flatten(thin));
});

template <int W>
constexpr auto transposed = program([](block& main) {
  auto x = layer::data<"x", float, 2, W, 3>(main);
  auto a = layer::transpose<0, 3, 1, 2>(x);
  auto b = layer::transpose<0, 2, 3, 1>(a);
  return std::tuple{layer::mean(b * b), a, b};
});

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

template <int W>
constexpr auto stacked_once = program([](block& main) {
  auto x = layer::data<"x", float, W>(main);
  auto w = layer::fill_constant<float, 3, W>(main, 0.5);
  auto t = layer::transpose<1, 0>(w);
  auto both = layer::concat<0>({w, w});
  auto h = layer::matmul(x, t);
  return std::tuple{layer::mean(h * h), t, both, layer::reshape<W, 3>(w)};
});

template <int W>
constexpr auto gathered = program([](block& main) {
  auto x = layer::data<"x", float, W>(main);
  auto i = layer::data<"i", std::int64_t>(main);
  auto y = layer::gather(x, i);
  return squared(y * x);
});

// Sparse: the gradient of "table" is selected rows, twice, that of "other" in one of two places.
template <int W, bool Sparse>
constexpr auto embedded = program([](block& main) {
  auto i = layer::data<"i", std::int64_t>(main);
  auto many = layer::data<"many", std::int64_t, 4, 1>(main);
  auto a = layer::embedding<7, W>(i, {.param = {.name = "table"}, .is_sparse = Sparse});
  auto b = layer::embedding<7, W>(
      many, {.param = {.name = "table"}, .padding_idx = 2, .is_sparse = Sparse});
  auto c = layer::embedding<7, W>(i, {.param = {.name = "other"}, .padding_idx = -1});
  auto d = layer::embedding<7, W>(i, {.param = {.name = "other"}, .is_sparse = Sparse});
  return std::tuple{
      layer::mean(a * a) + layer::mean(b * b * b) + layer::mean(c * a) + layer::mean(d * d), a, b,
      c};
});

}  // namespace

TEST_CASE("reshapes on the engine are those of the executor") {
  check_engine(reshaped<1>);
  check_engine(reshaped<5>);
  check_engine(reshaped<16>);
}

TEST_CASE("transposes on the engine are those of the executor") {
  check_engine(transposed<1>);
  check_engine(transposed<5>);
  check_engine(transposed<16>);
}

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

TEST_CASE("shapes without rows on the engine are those of the executor") {
  check_engine(stacked_once<5>);
  check_engine(stacked_once<16>);
  check_engine(stacked_once<33>);
}

TEST_CASE("gather on the engine is that of the executor") {
  lamina::law::engine_law_options o{.limit = 1, .rows_are_alone = false};
  check_engine(gathered<5>, o);
  o.limit = 3;
  o.batches = {3, 17};
  check_engine(gathered<1>, o);
  check_engine(gathered<16>, o);
  check_engine(gathered<33>, o);
}

TEST_CASE("embedding on the engine is that of the executor") {
  for (int limit : {1, 7}) {
    const lamina::law::engine_law_options o{.limit = limit};
    check_engine(embedded<1, false>, o);
    check_engine(embedded<33, false>, o);
    check_engine(embedded<5, true>, o);
    check_engine(embedded<33, true>, o);
  }
}
