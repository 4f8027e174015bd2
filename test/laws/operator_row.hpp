// SPDX-License-Identifier: Apache-2.0
// test/laws/operator_row.hpp - how a table of operators names, records and feeds each of them. A
// row is a call `to.write(name, record, options)`, where record(block) makes a program for any real
// type. The laws read the rows (operator_laws.hpp), and so does what writes cases for other
// libraries (interop/case_writer.hpp).
#pragma once

#include <cstddef>
#include <tuple>

#include <lamina/executor/executor.hpp>
#include <lamina/layers/layers.hpp>
#include <lamina/program/program.hpp>

namespace laws {

/// How the inputs of a row are made.
struct row_options {
  float low = -1, high = 1;  // of floating inputs and parameters
  int integers = 4;          // integer inputs are 0 ... integers - 1
  lamina::feed_map feed{};   // inputs that are given
  bool gradients = true;
  std::size_t rows = 3;
  bool any_rows = true;          // not only as many as `rows`, or as there are in `feed`
  bool edges = true;             // also with edge values, where the family has them
  lamina::feed_map edge_feed{};  // edge values that are given
  bool late = false;             // after so many steps of training that powers of beta are 0
  std::int64_t step = 0;         // of training, where a learning rate depends on it
};

/// What record function F makes for real numbers T.
template <class T, class F>
constexpr auto program_of() {
  return lamina::program([](lamina::block& main) { return F{}.template operator()<T>(main); });
}

/// The mean of w (y + 1/2)^2 with a parameter w, random like all of them: its gradient is another
/// one for every element of y, also where y is 0, or has a mean or a norm that is always the same.
template <class T, class R, int... D>
constexpr auto cost_of(lamina::variable<T, R, D...> y) {
  namespace layer = lamina::layer;
  auto square = layer::square(layer::scale(y, 1, {.bias = 0.5f}));
  if constexpr (sizeof...(D) == 0) {
    return layer::mean(square);
  } else {
    layer::layer_helper helper(*y.builder, "cost");
    const int w = helper.parameter({}, ".w_", {D...}, lamina::dtype_of<T>,
                                   lamina::init::constant(1), __builtin_LINE());
    using weights = lamina::variable<T, lamina::once, D...>;
    return layer::mean(layer::elementwise_mul(square, weights{y.builder, w}));
  }
}
/// A cost of one result, and the result: gradients of order 1.
template <class V>
constexpr auto squared(V y) {
  return std::tuple{cost_of(y), y};
}
/// A cost of several results, and the results.
template <class... V>
constexpr auto squared(std::tuple<V...> y) {
  return std::apply(
      [](auto... each) {
        return std::tuple{lamina::layer::sum({cost_of(each)...}), each...};
      },
      y);
}

/// A row whose operator takes images [4, 5, 6].
template <class To, class F>
void of_images(To& to, const char* name, F, float low = 0.1f) {
  to.write(name,
           []<class T>(lamina::block& main) {
             return squared(F{}(lamina::layer::data<"x", T, 4, 5, 6>(main)));
           },
           {.low = low, .high = 1});
}

}  // namespace laws
