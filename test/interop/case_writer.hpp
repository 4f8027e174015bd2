// SPDX-License-Identifier: Apache-2.0
// Writes programs with inputs and results, as test cases for other libraries. A case is a folder
// with
//   __model__        the program with feed and fetch operators
//   program.json     the program in protobuf's JSON mapping
//   parameters/NAME  the parameters, one file each
//   feed/NAME        the inputs, and the rows of mini-batches (minibatches.hpp)
//   fetch/NAME       the results that the executor computed, and the gradients, if any
//   edges/feed/NAME, edges/fetch/NAME   inputs and results with edge values: 0, -0, tiny, huge and
//                    infinite numbers, and NaN
// and, for programs without gradients,
//   onnx/model.onnx  the program as an ONNX file, or onnx/refused, which says why there is none
//   onnx/ROWS/feed/NAME, onnx/ROWS/fetch/NAME   inputs and results of several batches; the batch
//                    named `edges` has edge values
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "executor/shared_executor.hpp"
#include <interop/edge_feed.hpp>
#include <laws/operator_row.hpp>

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

using case_options = laws::row_options;
using laws::cost_of;
using laws::edge_kind;
using laws::program_of;
using laws::squared;

class case_writer {
 public:
  explicit case_writer(std::string folder) : folder_(std::move(folder)) {}

  /// Writes a program as the case NAME. If options.gradients is set, also writes the case
  /// NAME_grad, whose cost is the first result. If `recorded` is not a program but an object that
  /// records one for any real type T by `operator()<T>(block&)`, these cases are written for float,
  /// and the program for double is written as one case NAME_in_double, with both results and
  /// gradients.
  template <class F>
  void write(const std::string& name, F recorded, const case_options& options = {}) {
    if constexpr (lamina::program_type<F>) {
      write_view(name, F::view(), F::view(), options, {.outputs = true});
      if (!options.gradients) return;
      constexpr auto backward = decltype(lamina::transform::append_backward_to_data(recorded)){};
      write_view(name + "_grad", backward.view(), {}, options, {.gradients = true});
    } else {
      write(name, program_of<float>(recorded), options);
      write_in_double(name + "_in_double", program_of<double>(recorded), options);
    }
  }
  /// Writes the results of a program as the case NAME, without gradients.
  template <lamina::program_type P>
  void write_results(const std::string& name, P, const case_options& options) {
    write_view(name, P::view(), P::view(), options, {.outputs = true});
  }
  /// Writes a step of training as the case NAME: the program in Fluid's form, and the parameters
  /// and accumulators after the step.
  template <class P, class Opt>
  void write_step(const std::string& name, P program, const Opt& optimizer,
                  const case_options& options = {}) {
    write_step(name, P::view(), lamina::training_messages_of(program, optimizer), options);
  }
  /// From now on cases are written without edge values.
  void without_edges() { edges_ = false; }
  /// Removes the folder of a case that could not be written.
  void remove(const std::string& name) const;
  int count() const { return count_; }

 private:
  /// Which values a case fetches.
  struct fetched {
    bool outputs = false, gradients = false;
  };

  template <class P>
  void write_in_double(const std::string& name, P program, const case_options& options) {
    if (!options.gradients)
      return write_view(name, P::view(), P::view(), options, {.outputs = true});
    constexpr auto backward = decltype(lamina::transform::append_backward_to_data(program)){};
    write_view(name, backward.view(), P::view(), options, {.outputs = true, .gradients = true});
  }
  void write_step(const std::string& name, const lamina::program_view& p,
                  lamina::training_messages messages, const case_options& options);
  /// `inference` is the program to write as an ONNX file, if there is one.
  void write_view(const std::string& name, const lamina::program_view& p,
                  const std::optional<lamina::program_view>& inference, const case_options& options,
                  fetched what);
  std::vector<lod_tensor> run_as_read(const std::string& folder, bool in_double,
                                      const lamina::feed_map& feed,
                                      const std::vector<std::string>& fetches,
                                      lamina::scope& variables);
  void write_onnx(const std::string& to, const lamina::program_view& p, const case_options& options,
                  lamina::scope& scope);

  bool has_edges(const case_options& options) const {
    return edges_ && options.edges != edge_kind::none && options.any_rows;
  }
  template <class Program>
  std::vector<lod_tensor> run(bool in_double, const Program& p, lamina::scope& variables,
                              const lamina::feed_map& feed,
                              const std::vector<std::string>& fetches);

  std::string folder_;
  lamina::executor executor_;
  lamina::basic_executor<double> in_double_;
  bool edges_ = true;
  int count_ = 0;
};

/// Write the cases. Each function is defined in a source file of its own.
void write_pointwise_cases(case_writer& to);
void write_row_cases(case_writer& to);
void write_image_cases(case_writer& to);
void write_sequence_cases(case_writer& to);
void write_net_cases(case_writer& to);
void write_training_cases(case_writer& to);
void write_array_cases(case_writer& to);

}  // namespace interop
