// SPDX-License-Identifier: Apache-2.0
// Gradients that add up over a million rows keep their digits, in kernels that add them up row by
// row: peepholes, rows of sparse tables, gathered rows, the vector that all rows are compared with.
// Source: numpy/numpy#22956, tensorflow/tensorflow#51419.
#include <array>
#include <cmath>
#include <vector>

#include "sanitized.hpp"
#include <catch2/catch.hpp>

#include <lamina/lamina.hpp>

namespace layer = lamina::layer;

namespace {

// More than longest_chain of the engine: so long sums are added in parts.
constexpr int rows = test::is_sanitized ? 70'000 : 1'000'000;

// A parameter as a variable.
template <int... D, class V>
constexpr auto parameter_of(V x) {
  layer::layer_helper helper(*x.builder, "parameter");
  const int w = helper.parameter({.name = "p"}, ".w_", {D...}, lamina::dtype::float32,
                                 lamina::init::xavier(), __builtin_LINE());
  return lamina::variable<float, lamina::once, D...>{x.builder, w};
}

// Costs are sums: of equal rows gradients are those of one row, as often as there are rows.
constexpr auto peepholes = lamina::program([](lamina::block& main) {
  auto x = layer::sequence<"x", float, 4>(main);
  auto h = std::get<0>(layer::dynamic_lstm<4>(
      x, {.param = {.initializer = lamina::init::constant(0.3f)},
          .bias_param = {.name = "p", .initializer = lamina::init::constant(0.7f)}}));
  return layer::reduce_sum(h);
});
constexpr auto projected = lamina::program([](lamina::block& main) {
  auto x = layer::sequence<"x", float, 4>(main);
  auto h = std::get<0>(layer::dynamic_lstmp<4, 1>(
      x, {.param = {.initializer = lamina::init::constant(0.3f)},
          .bias_param = {.name = "p", .initializer = lamina::init::constant(0.7f)}}));
  return layer::reduce_sum(h);
});
constexpr auto sparse = lamina::program([](lamina::block& main) {
  auto ids = layer::data<"x", std::int64_t>(main);
  auto e = layer::embedding<3, 2>(ids, {.param = {.name = "p"}, .is_sparse = true});
  return layer::reduce_sum(layer::scale(e, 0.1f));
});
constexpr auto gathered = lamina::program([](lamina::block& main) {
  auto ids = layer::data<"x", std::int64_t>(main);
  auto table = parameter_of<3, 2>(ids);
  return layer::reduce_sum(layer::scale(layer::gather(table, ids), 0.1f));
});
constexpr auto compared = lamina::program([](lamina::block& main) {
  auto x = layer::data<"x", float, 2>(main);
  auto y = parameter_of<1, 2>(x);
  return layer::reduce_sum(layer::cos_sim(x, y));
});

// The gradient of p of many equal samples against that of one.
template <class P, class Sample>
void check(P program, const Sample& one, int count, double tolerance) {
  lamina::model model{program, 3};
  lamina::gradient_machine machine{model};
  machine.backward(std::vector<Sample>(1, one));
  const auto few = machine.template gradient<"p">();
  const std::vector<float> expected(few.begin(), few.end());
  machine.backward(std::vector<Sample>(static_cast<std::size_t>(count), one));
  const auto many = machine.template gradient<"p">();
  const std::vector<float> found(many.begin(), many.end());
  REQUIRE(found.size() == expected.size());
  bool any = false;
  for (std::size_t i = 0; i < found.size(); ++i) {
    INFO("element " << i);
    any = any || expected[i] != 0;
    CHECK(std::abs(static_cast<double>(found[i]) / count - static_cast<double>(expected[i])) <=
          tolerance * std::abs(static_cast<double>(expected[i])));
  }
  CHECK(any);
}
struct of_words {
  std::vector<std::array<float, 4>> x;
};
struct of_id {
  std::int64_t x;
};
struct of_numbers {
  std::array<float, 2> x;
};

}  // namespace

TEST_CASE("sums of many numbers: gradients of peepholes keep their digits") {
  // Two elements, so that there is a cell before.
  const of_words one{{{0.1f, 0.2f, 0.3f, 0.4f}, {0.1f, 0.2f, 0.3f, 0.4f}}};
  check(peepholes, one, rows / 2, 3e-6);
  check(projected, one, rows / 2, 3e-6);
}
TEST_CASE("sums of many numbers: gradients of rows that are read very often keep their digits") {
  check(sparse, of_id{1}, rows, 1e-6);
  check(gathered, of_id{1}, rows, 1e-6);
}
TEST_CASE("sums of many numbers: the gradient of a vector that all rows are compared with") {
  check(compared, of_numbers{{0.3f, -0.4f}}, rows, 3e-6);
}
