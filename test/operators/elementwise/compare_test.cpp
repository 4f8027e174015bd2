// SPDX-License-Identifier: Apache-2.0
// Comparisons and logic: values, whole numbers, the engine.
#include <cmath>
#include <tuple>
#include <vector>

#include "executor/run_program.hpp"
#include "laws/engine_law.hpp"
#include <catch2/catch.hpp>
#include <laws/compared_operators.hpp>

#include <lamina/executor/matrix_product.hpp>
#include <lamina/layers/layers.hpp>
#include <lamina/operators/pointwise_evaluation.hpp>
#include <lamina/transform/append_backward.hpp>
#include <lamina/transform/clone_for_test.hpp>

namespace layer = lamina::layer;
using executed::returned_by;
using executed::values_of;
using lamina::block;
using lamina::program;
using lamina::tensor;
using lamina::law::check_engine;

namespace {

/// Arguments of f: the inputs, then the default attributes.
template <class Op>
std::vector<double> with_attributes(std::vector<double> inputs,
                                    const std::vector<double>& given = {}) {
  for (int i = 0; i < lamina::scalars_of<Op>; ++i)
    inputs.push_back(static_cast<std::size_t>(i) < given.size()
                         ? given[static_cast<std::size_t>(i)]
                         : Op::attributes[static_cast<std::size_t>(i)].number);
  return inputs;
}

/// Output `k` of a pointwise operator, through the function its schema carries.
template <class Op>
double value(int k, const std::vector<double>& arguments) {
  std::vector<const double*> at;
  std::vector<int> stride(arguments.size(), 0);
  for (const double& a : arguments) at.push_back(&a);
  double out = std::nan("");
  lamina::registered<Op>::value.evaluate_double(k, 1, at.data(), stride.data(), &out);
  return out;
}

template <class Op>
double at(double x) {
  return value<Op>(0, with_attributes<Op>({x}));
}

}  // namespace

TEST_CASE("comparisons and logic") {
  CHECK(lamina::operators::less_than::f(1, 2));
  CHECK_FALSE(lamina::operators::less_than::f(2, 2));
  CHECK(lamina::operators::less_equal::f(2, 2));
  CHECK(lamina::operators::greater_than::f(3.0, 2.0));
  CHECK(lamina::operators::greater_equal::f(2, 2));
  CHECK(lamina::operators::equal::f(true, true));
  CHECK(lamina::operators::not_equal::f(1, 2));
  CHECK_FALSE(lamina::operators::logical_and::f(true, false));
  CHECK(lamina::operators::logical_or::f(true, false));
  CHECK(lamina::operators::logical_xor::f(true, false));
  CHECK_FALSE(lamina::operators::logical_xor::f(true, true));
  CHECK(lamina::operators::logical_not::f(false));
  CHECK(value<lamina::operators::increment>(0, {4, 3}) == 7);
}

namespace {

tensor whole(const lamina::tensor_shape& shape, const std::vector<std::int64_t>& values) {
  return tensor(shape, values);
}

}  // namespace

TEST_CASE("comparisons and logic give bool, exact for large integers") {
  constexpr auto p = lamina::program([](block& main) {
    auto x = layer::data<"x", std::int64_t>(main);
    auto y = layer::data<"y", std::int64_t>(main);
    auto less = layer::less_than(x, y);
    auto same = layer::equal(x, y);
    return std::tuple{less, same, layer::logical_or(less, same), layer::logical_not(less)};
  });
  const auto r = returned_by(
      p, {{"x", whole({3, 1}, {1, 16777217, 5})}, {"y", whole({3, 1}, {2, 16777216, 5})}});
  CHECK(r[0].type() == lamina::dtype::boolean);
  CHECK(values_of(r[0]) == std::vector<double>{1, 0, 0});
  CHECK(values_of(r[1]) == std::vector<double>{0, 0, 1});
  CHECK(values_of(r[2]) == std::vector<double>{1, 0, 1});
  CHECK(values_of(r[3]) == std::vector<double>{0, 1, 1});
}

namespace {

constexpr auto choices = program([](block& main) {
  auto x = layer::floor(layer::data<"x", float, 11>(main));
  auto y = layer::floor(layer::data<"y", float, 11>(main));
  auto n = layer::data<"n", std::int64_t, 11>(main), m = layer::data<"m", std::int64_t, 11>(main);
  auto less = layer::less_than(x, y), equal = layer::equal(x, y);
  return std::tuple{layer::mean(x),
                    layer::less_equal(x, y),
                    layer::greater_than(x, y),
                    layer::greater_equal(x, y),
                    layer::not_equal(x, y),
                    layer::logical_and(less, equal),
                    layer::logical_or(less, equal),
                    layer::logical_xor(less, equal),
                    layer::logical_not(less),
                    layer::elementwise_floordiv(n, m + 1),
                    layer::elementwise_mod(n, m + 1)};
});

}  // namespace

TEST_CASE("comparisons and integer division equal the executor's") {
  check_engine(choices, {.low = -2, .high = 2, .limit = 9});
}
