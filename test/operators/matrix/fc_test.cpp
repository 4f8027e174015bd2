// SPDX-License-Identifier: Apache-2.0
// A product over the last dimension is one product.
#include <algorithm>
#include <tuple>

#include "executor/run_program.hpp"
#include "executor/shared_executor.hpp"
#include "laws/engine_law.hpp"
#include <catch2/catch.hpp>
#include <laws/compared_operators.hpp>
#include <laws/gradient_check.hpp>

#include <lamina/layers/layers.hpp>
#include <lamina/transform/append_backward.hpp>
#include <lamina/transform/clone_for_test.hpp>

namespace layer = lamina::layer;
using lamina::block;
using lamina::program;
using lamina::law::check_engine;

namespace {

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
    together = together || (g.head == lamina::fusion_anchor::gemm && g.columns == 32 &&
                            g.count == 3 && lamina::parts_of_rows(g.rows) == 5);
  CHECK(together);
}
