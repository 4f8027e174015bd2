// SPDX-License-Identifier: Apache-2.0
// matmul: gradients, and the engine against the executor.
#include <tuple>

#include "executor/shared_executor.hpp"
#include "laws/engine_law.hpp"
#include <catch2/catch.hpp>
#include <laws/gradient_check.hpp>

#include <lamina/layers/layers.hpp>
#include <lamina/transform/clone_for_test.hpp>

namespace layer = lamina::layer;
using lamina::block;
using lamina::program;
using lamina::law::check_engine;

namespace {

template <int W>
constexpr auto products = program([](block& main) {
  auto x = layer::data<"x", float, 3, W>(main);
  auto y = layer::data<"y", float, W, 4>(main);
  auto z = layer::data<"z", float, 4, W>(main);
  auto t = layer::data<"t", float, W, 3>(main);
  auto a = layer::matmul(x, y);
  auto b = layer::matmul<layer::matmul_form{.transpose_y = true}>(x, z, {.alpha = 0.5f});
  auto c = layer::matmul<layer::matmul_form{.transpose_x = true}>(t, y);
  auto d = layer::matmul<layer::matmul_form{.transpose_x = true, .transpose_y = true}>(t, z);
  auto cost = layer::mean(a * a) + layer::mean(b * b) + layer::mean(c * c) + layer::mean(d * d);
  return std::tuple{cost, a, b, c, d};
});

/// Several matrices in a row of the batch, as the heads of attention are.
template <int W>
constexpr auto heads = program([](block& main) {
  auto q = layer::data<"q", float, 2, 3, W>(main);
  auto k = layer::data<"k", float, 2, 5, W>(main);
  auto s = layer::matmul<layer::matmul_form{.transpose_y = true}>(q, k, {.alpha = 0.3f});
  auto y = layer::matmul(layer::softmax(s), k);
  return std::tuple{layer::mean(y * y), s, y};
});

template <int Positions, int W, class V>
constexpr auto by_heads(V x) {
  return layer::transpose<0, 2, 1, 3>(layer::reshape<Positions, 2, W>(x));
}

/// Attention as written: positions and heads change places and back. With `Seen` somebody else
/// reads what was turned, so that it has to be copied.
template <int W, bool Seen>
constexpr auto attention = program([](block& main) {
  auto x = layer::data<"x", float, 3, 2 * W>(main);
  auto z = layer::data<"z", float, 5, 2 * W>(main);
  auto q = by_heads<3, W>(layer::fc<2 * W, 2>(x));
  auto k = by_heads<5, W>(layer::fc<2 * W, 2>(z));
  auto v = by_heads<5, W>(z);
  auto s =
      layer::softmax(layer::matmul<layer::matmul_form{.transpose_y = true}>(q, k, {.alpha = 0.3f}));
  auto seen = layer::matmul(s, v);
  auto y = layer::reshape<3, 2 * W>(layer::transpose<0, 2, 1, 3>(seen));
  auto cost = layer::mean(y * y);
  if constexpr (Seen) cost = cost + layer::mean(k * k) + layer::mean(seen * seen);
  return std::tuple{cost, y};
});

/// Matrices that were turned times one for all, and a turned one that is returned.
template <int W>
constexpr auto turned_rows = program([](block& main) {
  auto x = layer::data<"x", float, 4, 3, W>(main);
  auto m = layer::fill_constant<float, W, 5>(main, 0.1);
  auto t = layer::transpose<0, 2, 1, 3>(x * x);
  auto u = layer::transpose<0, 2, 1, 3>(layer::matmul(t, m));
  auto w =
      layer::transpose<0, 2, 1, 3>(layer::matmul<layer::matmul_form{.transpose_x = true}>(t, t));
  return std::tuple{layer::mean(u * u) + layer::mean(w * w), u, w};
});

template <int W>
constexpr auto shared = program([](block& main) {
  auto x = layer::data<"x", float, 3, W>(main);
  auto flat = layer::data<"flat", float, W>(main);
  auto w = layer::fc<4>(flat);
  auto m = layer::fill_constant<float, W, 5>(main, 0.1);
  auto n = layer::fill_constant<float, 2, W>(main, 0.2);
  auto v = layer::fill_constant<float, W>(main, 0.3);
  auto a = layer::matmul(x, m);
  auto b = layer::matmul<layer::matmul_form{.transpose_y = true}>(flat, n);
  auto c = layer::matmul(x, v);
  auto d = layer::matmul(flat, v);
  auto cost = layer::mean(a * a) + layer::mean(b * b) + layer::mean(c * c) + layer::mean(d * d) +
              layer::mean(w);
  return std::tuple{cost, a, b, c, d};
});

template <int W>
constexpr auto over_rows = program([](block& main) {
  auto x = layer::data<"x", float, W>(main);
  auto y = layer::data<"y", float, 3>(main);
  auto a = layer::matmul<layer::matmul_form{.transpose_x = true}>(x, y);
  return std::tuple{layer::mean(a * a), a};
});

}  // namespace

TEST_CASE("matmul of batches on the engine is that of the executor") {
  check_engine(products<1>);
  check_engine(products<5>);
  check_engine(products<16>);
}

TEST_CASE("matmul of several matrices a row on the engine is that of the executor") {
  check_engine(heads<1>);
  check_engine(heads<5>);
  check_engine(heads<16>);
}

template <auto const& Program>
constexpr int swapped_values() {
  using plan = lamina::plan<std::remove_const_t<std::remove_reference_t<decltype(Program)>>>;
  int n = 0;
  for (const bool swapped : plan::same.swapped) n += swapped ? 1 : 0;
  return n;
}

TEST_CASE("attention on the engine is that of the executor, and copies no heads") {
  check_engine(attention<1, false>);
  check_engine(attention<5, false>);
  check_engine(attention<16, false>);
  check_engine(attention<5, true>);
  check_engine(attention<16, true>);
  STATIC_REQUIRE(swapped_values<attention<16, false>>() == 4);
  STATIC_REQUIRE(swapped_values<attention<16, true>>() == 2);
}

TEST_CASE("turned matrices on the engine are those of the executor") {
  check_engine(turned_rows<5>);
  check_engine(turned_rows<16>);
}

TEST_CASE("matmul with one side for all on the engine is that of the executor") {
  check_engine(shared<5>);
  check_engine(shared<16>);
}

TEST_CASE("matmul over the rows on the engine is that of the executor") {
  lamina::law::engine_law_options o;
  o.rows_are_alone = false;
  check_engine(over_rows<5>, o);
  check_engine(over_rows<33>, o);
}

TEST_CASE("gradient: matmul in all four forms and with one matrix for all") {
  laws::check_gradients(lamina::program([](block& main) {
    auto x = layer::data<"x", float, 3, 4>(main);
    auto y = layer::data<"y", float, 4, 3>(main);
    auto plain = layer::matmul(x, y, {.alpha = 0.5f});
    auto left = layer::matmul<layer::matmul_form{.transpose_x = true}>(y, y);
    auto right = layer::matmul<layer::matmul_form{.transpose_y = true}>(x, x);
    auto both = layer::matmul<layer::matmul_form{.transpose_x = true, .transpose_y = true}>(y, x);
    return layer::mean(layer::square(plain) + left + right * both);
  }));
}
