// SPDX-License-Identifier: Apache-2.0
// test/laws/operator_row.hpp - how a table of operators names each operator, records it and makes
// its inputs. A row is a call `to.write(name, record, options)`, where `record` is either a
// function that records a program for any real type, record(block), or a program itself. The object
// `to` decides what is done with a row: operator_laws.hpp checks the laws on the executor and the
// CPU engine, cuda_laws.hpp checks them on the bodies of the CUDA kernels, and
// interop/case_writer.hpp writes the row as a test case for other libraries.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <lamina/core/numbers/random.hpp>
#include <lamina/executor/executor.hpp>
#include <lamina/layers/layers.hpp>
#include <lamina/program/program.hpp>

namespace laws {

/// Which edge values the inputs of a test case for other libraries contain. none: no edge values;
/// values: every number of a list, or with two inputs every pair of such numbers; rows: each row
/// has a different kind of edge value.
enum class edge_kind { none, values, rows };

/// How the inputs of a row are made.
struct row_options {
  float low = -1, high = 1;             // the range of floating inputs and parameters
  int integers = 4;                     // integer inputs are 0 ... integers - 1
  lamina::feed_map feed{};              // inputs with given values; all other inputs are random
  bool gradients = true;                // the first result is a cost
  std::vector<std::string> constant{};  // inputs without a gradient, such as soft labels
  std::size_t rows = 3;
  bool any_rows = true;   // the number of rows may differ from `rows`, or from that in `feed`
  bool row_alone = true;  // a row of a result depends on the same row of the inputs alone
  edge_kind edges = edge_kind::rows;
  bool late = false;      // as after so many training steps that the powers of beta are 0
  std::int64_t step = 0;  // the training step, for learning rates that depend on it
};

/// The program that record function F records for the real type T. If F is a program, the result is
/// that program.
template <class T, class F>
constexpr auto program_of(F recorded) {
  if constexpr (lamina::program_type<F>)
    return recorded;
  else
    return lamina::program([](lamina::block& main) { return F{}.template operator()<T>(main); });
}

/// The mean of w (y + 1/2)^2 with a parameter w, which is random like all parameters. Its gradient
/// differs from element to element of y, even if y is 0 or if its mean or norm is constant.
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
/// The cost of one result, and the result. The gradients are of order 1.
template <class V>
constexpr auto squared(V y) {
  return std::tuple{cost_of(y), y};
}
/// The sum of the costs of several results, and the results.
template <class... V>
constexpr auto squared(std::tuple<V...> y) {
  return std::apply(
      [](auto... each) {
        return std::tuple{lamina::layer::sum({cost_of(each)...}), each...};
      },
      y);
}

}  // namespace laws

/// The tables of rows, one function for each group of operators, and the kinds of row that several
/// tables use.
namespace rows {

namespace layer = lamina::layer;
using integer = std::int64_t;
using lamina::block;
using lamina::extent2;
using lamina::lod_tensor;
using lamina::pooling_type;
using lamina::tensor;
using lamina::window;
using laws::cost_of;
using laws::edge_kind;
using laws::row_options;
using laws::squared;

inline const row_options positive{.low = 0.2f, .high = 2};
inline const row_options wide{.low = -4, .high = 4};

/// A pointwise operator of x [4].
template <class To, class F>
void unary(To& to, const char* name, F, row_options options = {}) {
  options.edges = edge_kind::values;
  to.write(
      name, []<class T>(block& main) { return squared(F{}(layer::data<"x", T, 4>(main))); },
      options);
}
/// A pointwise operator of x [4] and y [4].
template <class To, class F>
void binary(To& to, const char* name, F, row_options options = {}) {
  options.edges = edge_kind::values;
  to.write(
      name,
      []<class T>(block& main) {
        auto x = layer::data<"x", T, 4>(main);
        return squared(F{}(x, layer::data<"y", T, 4>(main)));
      },
      options);
}
/// A pointwise operator of whole numbers x [4] and y [4] whose result has no gradient.
template <class To, class F>
void choice(To& to, const char* name, F) {
  to.write(
      name,
      []<class T>(block& main) {
        auto x = layer::floor(layer::data<"x", T, 4>(main));
        return F{}(x, layer::floor(layer::data<"y", T, 4>(main)));
      },
      row_options{.low = 0, .high = 3, .gradients = false, .edges = edge_kind::values});
}
/// An operator of x [4].
template <class To, class F>
void of_rows(To& to, const char* name, F, const row_options& options = {}) {
  to.write(
      name, []<class T>(block& main) { return squared(F{}(layer::data<"x", T, 4>(main))); },
      options);
}
/// An operator of x [2, 4].
template <class To, class F>
void of_matrices(To& to, const char* name, F, const row_options& options = {}) {
  to.write(
      name, []<class T>(block& main) { return squared(F{}(layer::data<"x", T, 2, 4>(main))); },
      options);
}
/// An operator of images [2, 5, 6].
template <class To, class F>
void of_two_images(To& to, const char* name, F, const row_options& options = {}) {
  to.write(
      name, []<class T>(block& main) { return squared(F{}(layer::data<"x", T, 2, 5, 6>(main))); },
      options);
}
/// An operator of images [4, 5, 6] of positive numbers.
template <class To, class F>
void of_images(To& to, const char* name, F, const row_options& options = {.low = 0.1f, .high = 1}) {
  to.write(
      name, []<class T>(block& main) { return squared(F{}(layer::data<"x", T, 4, 5, 6>(main))); },
      options);
}
/// An operator of sequences of [4].
template <class To, class F>
void of_sequences(To& to, const char* name, F, const row_options& options = {}) {
  to.write(
      name, []<class T>(block& main) { return squared(F{}(layer::sequence<"x", T, 4>(main))); },
      options);
}
/// An operator of x [4] and labels below 4.
template <class To, class F>
void labelled(To& to, const char* name, F, const row_options& options = {}) {
  to.write(
      name,
      []<class T>(block& main) {
        auto x = layer::data<"x", T, 4>(main);
        return squared(F{}(x, layer::data<"label", integer>(main)));
      },
      options);
}

/// A column of numbers.
inline tensor column(const std::vector<float>& values) {
  return tensor({values.size(), 1}, values);
}
/// Sequences of whole numbers.
inline lod_tensor ids_of(const std::vector<integer>& ids, const lamina::lod::level& lengths,
                         lamina::dtype type = lamina::dtype::int64) {
  return lod_tensor(tensor({ids.size(), 1}, ids).cast(type), lamina::lod::from_lengths({lengths}));
}
/// Sequences of random numbers from -1 to 1, the same in every run.
inline lod_tensor noise(const lamina::tensor_shape& shape, const lamina::lod::level& lengths) {
  std::vector<float> values;
  for (std::size_t i = 0; i < lamina::size_of(shape); ++i)
    values.push_back(lamina::random_uniform_at(7, 99, i, -1.f, 1.f));
  return lod_tensor(tensor(shape, values), lamina::lod::from_lengths({lengths}));
}

}  // namespace rows
