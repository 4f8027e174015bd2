// SPDX-License-Identifier: Apache-2.0
// Writes programs with inputs and results for other libraries to repeat: a folder a case with
//   __model__        the program with feed and fetch operators
//   parameters/NAME  the parameters, one file each
//   feed/NAME        the inputs
//   fetch/NAME       what the executor found, gradients too
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <lamina/core/random.hpp>
#include <lamina/executor/executor.hpp>
#include <lamina/io/inference_model.hpp>
#include <lamina/layers/layers.hpp>
#include <lamina/program/program.hpp>
#include <lamina/transform/append_backward.hpp>

extern template class lamina::basic_executor<float>;

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
};

/// Lengths of three sequences.
inline const std::vector<lamina::lod::level> some_lengths{{2, 1, 3}};

class case_writer {
 public:
  explicit case_writer(std::string folder) : folder_(std::move(folder)) {}

  /// Writes the case NAME; with gradients also NAME_grad, whose cost is the mean of the squares of
  /// the first result.
  template <class P>
  void write(const std::string& name, P program, const case_options& options = {}) {
    write_view(name, P::view(), options, false);
    if (!options.gradients) return;
    constexpr auto backward = decltype(lamina::transform::append_backward_to_data(program)){};
    write_view(name + "_grad", backward.view(), options, true);
  }
  int count() const { return count_; }

 private:
  static tensor random_value(const lamina::program_view& p, int v, std::size_t rows,
                             const case_options& options) {
    const lamina::variable_desc& d = p.variables[v];
    lamina::tensor_shape shape;
    for (int i = 0; i < d.rank; ++i) {
      const int extent = p.dims[d.dims + i];
      shape.push_back(extent < 0 ? rows : static_cast<std::size_t>(extent));
    }
    const std::size_t n = lamina::size_of(shape);
    const std::uint64_t stream = static_cast<std::uint64_t>(v) + 1;
    if (lamina::is_floating(d.type)) {
      std::vector<float> values;
      for (std::size_t i = 0; i < n; ++i)
        values.push_back(lamina::random_uniform_at(7, stream, i, options.low, options.high));
      return tensor(shape, values);
    }
    std::vector<integer> values;
    for (std::size_t i = 0; i < n; ++i)
      values.push_back(static_cast<integer>(lamina::random_uniform_at(
          7, stream, i, 0.f, static_cast<float>(options.integers) - 0.001f)));
    return tensor(shape, values).cast(d.type);
  }

  void write_view(const std::string& name, const lamina::program_view& p,
                  const case_options& options, bool gradients) {
    lamina::scope scope;
    executor_.run_startup(p, scope, 1);
    for (int i = 0; i < p.count.parameters; ++i) {
      const int v = p.parameters[i].variable;
      scope.var(lamina::name_of(p, v)) = random_value(p, v, 1, options);
    }
    lamina::feed_map feed = options.feed;
    std::vector<std::string> feeds, fetches;
    for (int i = 0; i < p.count.data; ++i) {
      const int v = p.data[i];
      feeds.push_back(lamina::name_of(p, v));
      if (feed.find(feeds.back()) != feed.end()) continue;
      const bool ragged = lamina::lod_level_of(p, p.variables[v].rows) == 1;
      const tensor value = random_value(p, v, ragged ? 6 : options.rows, options);
      feed[feeds.back()] =
          ragged ? lod_tensor(value, lamina::lod::from_lengths(some_lengths)) : lod_tensor(value);
    }
    for (int i = 0; i < p.count.outputs; ++i) fetches.push_back(lamina::name_of(p, p.outputs[i]));
    if (gradients) {
      fetches.clear();
      for (int v = 0; v < p.count.variables; ++v) {
        const lamina::variable_desc& d = p.variables[v];
        if (d.of < 0 || d.block != 0 || d.number >= 0) continue;
        const lamina::variable_kind kind = p.variables[d.of].kind;
        if (kind == lamina::variable_kind::parameter || kind == lamina::variable_kind::data)
          fetches.push_back(lamina::name_of(p, v));
      }
    }
    const std::string to = folder_ + "/" + name;
    const std::vector<lod_tensor> found = executor_.run(p, scope, feed, fetches);
    lamina::program_message program = lamina::message_of(p);
    lamina::add_feed_and_fetch(program, feeds, fetches);
    lamina::save_variables(to + "/parameters", scope, scope.names());
    lamina::scope inputs, results;
    for (const auto& [key, value] : feed) inputs.var(key) = value;
    lamina::save_variables(to + "/feed", inputs, inputs.names());
    for (std::size_t i = 0; i < fetches.size(); ++i) results.var(fetches[i]) = found[i];
    lamina::save_variables(to + "/fetch", results, results.names());
    lamina::write_file(to + "/__model__", lamina::to_proto(program));
    ++count_;
  }

  std::string folder_;
  lamina::executor executor_;
  int count_ = 0;
};

/// The cases, a file a family.
void write_pointwise_cases(case_writer& to);
void write_row_cases(case_writer& to);
void write_sequence_cases(case_writer& to);
void write_net_cases(case_writer& to);

/// A cost of one result, and the result: gradients of order 1.
template <class V>
constexpr auto squared(V y) {
  return std::tuple{layer::mean(layer::square(y)), y};
}

}  // namespace interop
