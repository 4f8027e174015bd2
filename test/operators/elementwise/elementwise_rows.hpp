// SPDX-License-Identifier: Apache-2.0
// test/operators/elementwise/elementwise_rows.hpp - one row per operator that computes element by
// element.
#pragma once

#include <laws/operator_row.hpp>

namespace rows {

template <class To>
void elementwise(To& to) {
  unary(to, "exp", [](auto x) { return layer::exp(x); });
  unary(
      to, "log", [](auto x) { return layer::log(x); }, positive);
  unary(
      to, "sqrt", [](auto x) { return layer::sqrt(x); }, positive);
  unary(
      to, "rsqrt", [](auto x) { return layer::rsqrt(x); }, positive);
  unary(to, "abs", [](auto x) { return layer::abs(x); });
  unary(
      to, "ceil", [](auto x) { return layer::ceil(x); }, wide);
  unary(
      to, "floor", [](auto x) { return layer::floor(x); }, wide);
  unary(
      to, "round", [](auto x) { return layer::round(x); }, wide);
  unary(
      to, "sin", [](auto x) { return layer::sin(x); }, wide);
  unary(
      to, "cos", [](auto x) { return layer::cos(x); }, wide);
  unary(to, "asin", [](auto x) { return layer::asin(x); });
  unary(to, "acos", [](auto x) { return layer::acos(x); });
  unary(
      to, "atan", [](auto x) { return layer::atan(x); }, wide);
  unary(
      to, "erf", [](auto x) { return layer::erf(x); }, wide);
  unary(
      to, "reciprocal", [](auto x) { return layer::reciprocal(x); }, positive);
  unary(to, "square", [](auto x) { return layer::square(x); });
  unary(to, "sign", [](auto x) { return layer::sign(x); });
  unary(to, "scale", [](auto x) { return layer::scale(x, 2, {.bias = 0.5f}); });
  unary(to, "scale_before",
        [](auto x) { return layer::scale(x, 2, {.bias = 0.5f, .bias_after_scale = false}); });
  unary(to, "clip", [](auto x) { return layer::clip(x, -0.5f, 0.4f); });
  unary(to, "clip_by_norm", [](auto x) { return layer::clip_by_norm(x, 0.9f); },
        {.gradients = false, .row_alone = false});
  unary(to, "assign", [](auto x) { return layer::assign(x); });
  to.write("cast",
           []<class T>(block& main) {
             return layer::cast<T>(layer::cast<integer>(layer::data<"x", T, 4>(main)));
           },
           {.low = -4, .high = 4, .gradients = false, .edges = edge_kind::none});
  to.write("cast_double", lamina::program([](block& main) {
             auto x = layer::data<"x", float, 4>(main);
             return squared(layer::cast<float>(layer::square(layer::cast<double>(x))));
           }),
           {.edges = edge_kind::values});
  binary(to, "elementwise_add", [](auto x, auto y) { return layer::elementwise_add(x, y); });
  binary(to, "elementwise_sub", [](auto x, auto y) { return layer::elementwise_sub(x, y); });
  binary(to, "elementwise_mul", [](auto x, auto y) { return layer::elementwise_mul(x, y); });
  binary(
      to, "elementwise_div", [](auto x, auto y) { return layer::elementwise_div(x, y); }, positive);
  binary(to, "elementwise_max", [](auto x, auto y) { return layer::elementwise_max(x, y); });
  binary(to, "elementwise_min", [](auto x, auto y) { return layer::elementwise_min(x, y); });
  binary(
      to, "elementwise_pow", [](auto x, auto y) { return layer::elementwise_pow(x, y); }, positive);
  to.write("elementwise_keep",
           []<class T>(block& main) {
             auto x = layer::data<"x", T, 4>(main), y = layer::data<"y", T, 4>(main);
             return squared(layer::elementwise_keep(x, layer::relu(y)));
           },
           {.edges = edge_kind::values});
  to.write("elementwise_broadcast",
           []<class T>(block& main) {
             auto x = layer::data<"x", T, 2, 4>(main);
             return squared(layer::elementwise_mul<0>(x, layer::fc<2>(layer::reduce_mean<2>(x))));
           },
           {.edges = edge_kind::values});
  to.write("elementwise_mod", lamina::program([](block& main) {
             auto x = layer::data<"x", integer, 4>(main), y = layer::data<"y", integer, 4>(main);
             return layer::elementwise_mod(x - 5, y + 1);
           }),
           {.integers = 10, .gradients = false, .edges = edge_kind::values});
  to.write("elementwise_floordiv", lamina::program([](block& main) {
             auto x = layer::data<"x", integer, 4>(main), y = layer::data<"y", integer, 4>(main);
             return layer::elementwise_floordiv(x, y + 1);
           }),
           {.integers = 10, .gradients = false, .edges = edge_kind::values});
  to.write("sum",
           []<class T>(block& main) {
             auto x = layer::data<"x", T, 4>(main), y = layer::data<"y", T, 4>(main);
             return squared(layer::sum({x, y, x}));
           },
           {.edges = edge_kind::values});
  to.write("increment", lamina::program([](block& main) {
             auto i = layer::fill_constant<integer>(main, 3);
             return layer::increment(i, 2);
           }),
           {.gradients = false, .edges = edge_kind::values});
  choice(to, "less_than", [](auto x, auto y) { return layer::less_than(x, y); });
  choice(to, "less_equal", [](auto x, auto y) { return layer::less_equal(x, y); });
  choice(to, "greater_than", [](auto x, auto y) { return layer::greater_than(x, y); });
  choice(to, "greater_equal", [](auto x, auto y) { return layer::greater_equal(x, y); });
  choice(to, "equal", [](auto x, auto y) { return layer::equal(x, y); });
  choice(to, "not_equal", [](auto x, auto y) { return layer::not_equal(x, y); });
  choice(to, "logical_and", [](auto x, auto y) {
    return layer::logical_and(layer::less_than(x, y), layer::equal(x, x));
  });
  choice(to, "logical_or", [](auto x, auto y) {
    return layer::logical_or(layer::less_than(x, y), layer::equal(x, y));
  });
  choice(to, "logical_xor", [](auto x, auto y) {
    return layer::logical_xor(layer::less_than(x, y), layer::equal(x, x));
  });
  choice(to, "logical_not",
         [](auto x, auto y) { return layer::logical_not(layer::less_than(x, y)); });
  to.write("minus", []<class T>(block& main) {
    auto x = layer::data<"x", T, 4>(main);
    return squared(layer::minus(layer::square(x), x));
  });
}

}  // namespace rows
