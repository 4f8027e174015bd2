// SPDX-License-Identifier: Apache-2.0
// matmul in all its forms, and mul with several dimensions of rows, on the compiled engine.
#include <tuple>

#include "laws/engine_law.hpp"
#include <catch2/catch.hpp>

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

template <int W>
constexpr auto sequences = program([](block& main) {
  auto x = layer::data<"x", float, 3, W>(main);
  auto a = layer::fc<6, 2>(x, {.act = lamina::activation::tanh});
  auto b = layer::fc<W>(x, {.act = lamina::activation::relu});
  return std::tuple{layer::mean(a * a) + layer::mean(b * b), a, b};
});

/// Rows of several whole vectors are products with as many rows each: bias, activation, residual,
/// a number a row, and all their gradients.
template <int W, int Length = 5>
constexpr auto positions = program([](block& main) {
  auto x = layer::data<"x", float, Length, W>(main);
  auto z = layer::data<"z", float, 1>(main);
  auto h = layer::fc<32, 2>(x, {.act = lamina::activation::gelu});
  auto same = layer::fc<W, 2>(h);
  auto y = layer::tanh(x + same + same);
  auto u = layer::elementwise_mul<0>(layer::fc<16, 2>(h), z);
  auto v = layer::layer_norm<2>(layer::relu(same + y));
  return std::tuple{layer::mean(y * y) + layer::mean(u) + layer::mean(v * same), y, u, v};
});

/// Products over the last of dimensions that are one, in the steps of a loop, whose weight
/// gradients are collected, and of rows that are not the batch's.
template <int W>
constexpr auto single_steps = program([](block& main) {
  auto x = layer::data<"x", float, 3, 1, W>(main);
  auto h = layer::static_rnn(x, [&](auto& step) {
    auto before = step.memory(lamina::dims<1, 6>);
    auto next = layer::tanh(layer::fc<6, 2>(step.input(x)) + layer::fc<6, 2>(before));
    step.update(before, next);
    return layer::fc<W, 2>(next, {.act = lamina::activation::sigmoid});
  });
  auto scales = layer::fill_constant<float, 2, 1, W>(main, 0.3);
  auto s = layer::fc<5, 2>(layer::scale(scales, 2));
  return std::tuple{layer::mean(h * h) + layer::mean(s * s), h, s};
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

TEST_CASE("mul with several dimensions of rows on the engine is that of the executor") {
  check_engine(sequences<5>);
  check_engine(sequences<16>);
}
TEST_CASE("a product over the last dimension is one product, with what follows in it") {
  check_engine(positions<16>);
  check_engine(positions<48>);
  check_engine(positions<20>);
  check_engine(positions<7, 1>);
  check_engine(single_steps<7>);
  check_engine(single_steps<16>);
  using plan = lamina::plan<lamina::for_test<std::remove_const_t<decltype(positions<48>)>>>;
  bool together = false;
  for (const lamina::group_desc& g : plan::grouped.groups)
    together = together || (g.head == lamina::group_head::gemm && g.columns == 32 && g.count == 3 &&
                            lamina::parts_of_rows(g.rows) == 5);
  CHECK(together);
}
