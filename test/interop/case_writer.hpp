// SPDX-License-Identifier: Apache-2.0
// Writes programs with inputs and results for other libraries to repeat: a folder a case with
//   __model__        the program with feed and fetch operators
//   program.json     the same in protobuf's JSON mapping
//   parameters/NAME  the parameters, one file each
//   feed/NAME        the inputs
//   fetch/NAME       what the executor found, gradients too
// and of programs without gradients
//   onnx/model.onnx  the same as an ONNX file, or onnx/refused, why there is none
//   onnx/ROWS/feed/NAME, onnx/ROWS/fetch/NAME   inputs and results of several batches
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "executor/shared_executor.hpp"

#include <lamina/io/fluid_training.hpp>
#include <lamina/layers/layers.hpp>
#include <lamina/program/program.hpp>
#include <lamina/transform/append_backward.hpp>

namespace interop {

namespace layer = lamina::layer;
using lamina::block;
using lamina::lod_tensor;
using lamina::tensor;
using integer = std::int64_t;

/// How the inputs of a case are made.
struct case_options {
  float low = -1, high = 1;  // of floating inputs and parameters
  int integers = 4;          // integer inputs are 0 ... integers - 1
  lamina::feed_map feed{};   // inputs that are given
  bool gradients = true;
  std::size_t rows = 3;
  bool any_rows = true;   // not only as many as `rows`, or as there are in `feed`
  bool late = false;      // after so many steps of training that powers of beta are 0
  integer step = 0;       // of training, where a learning rate depends on it
  bool in_double = true;  // also in double, where the family has that
};

class case_writer {
 public:
  explicit case_writer(std::string folder) : folder_(std::move(folder)) {}

  /// Writes the case NAME; with gradients also NAME_grad, whose cost is the first result.
  template <class P>
  void write(const std::string& name, P program, const case_options& options = {}) {
    write_view(name, P::view(), options, false);
    if (!options.gradients) return;
    constexpr auto backward = decltype(lamina::transform::append_backward_to_data(program)){};
    write_view(name + "_grad", backward.view(), options, true);
  }
  /// Writes a step of training as the case NAME: the program in Fluid's form, and what parameters
  /// and accumulators are after it.
  template <class P, class Opt>
  void write_step(const std::string& name, P program, const Opt& optimizer,
                  const case_options& options = {}) {
    write_step(name, P::view(), lamina::training_messages_of(program, optimizer), options);
  }
  int count() const { return count_; }

 private:
  void write_step(const std::string& name, const lamina::program_view& p,
                  lamina::training_messages messages, const case_options& options);
  void write_view(const std::string& name, const lamina::program_view& p,
                  const case_options& options, bool gradients);
  void require_same_when_read(const std::string& folder, const lamina::feed_map& feed,
                              const std::vector<std::string>& fetches,
                              const std::vector<lod_tensor>& found);
  void write_onnx(const std::string& to, const lamina::program_view& p, const case_options& options,
                  lamina::scope& scope, const std::vector<std::string>& fetches);

  std::string folder_;
  /// A program whose feeds are double is run in double.
  template <class Program>
  std::vector<lod_tensor> run(const Program& p, lamina::scope& variables,
                              const lamina::feed_map& feed,
                              const std::vector<std::string>& fetches);

  lamina::executor executor_;
  lamina::basic_executor<double> in_double_;
  int count_ = 0;
};

/// The cases, a file a family.
void write_pointwise_cases(case_writer& to);
void write_row_cases(case_writer& to);
void write_image_cases(case_writer& to);
void write_sequence_cases(case_writer& to);
void write_net_cases(case_writer& to);
void write_training_cases(case_writer& to);
void write_array_cases(case_writer& to);

/// The mean of w (y + 1/2)^2 with a parameter w, random like all of them: its gradient is another
/// one for every element of y, also where y is 0, or has a mean or a norm that is always the same.
template <class T, class R, int... D>
constexpr auto cost_of(lamina::variable<T, R, D...> y) {
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
        return std::tuple{layer::sum({cost_of(each)...}), each...};
      },
      y);
}

}  // namespace interop
