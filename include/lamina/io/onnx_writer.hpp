// SPDX-License-Identifier: Apache-2.0
// lamina/io/onnx_writer.hpp - the options of export_onnx, and its functions that do not depend on
// the type of a program.
#pragma once

#include <lamina/core/config.hpp>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <lamina/core/files/file.hpp>
#include <lamina/io/model_values.hpp>
#if LAMINA_DEFINES
#include <algorithm>

#include <lamina/io/copy_parameters.hpp>
#include <lamina/io/fluid/prune_message.hpp>
#include <lamina/io/model_writer.hpp>
#include <lamina/io/onnx/library_conversions.hpp>
#include <lamina/io/onnx/onnx_message.hpp>
#include <lamina/io/onnx/onnx_operator.hpp>
#include <lamina/tensor/scope.hpp>
#endif

namespace lamina { inline namespace LAMINA_ABI {

class onnx_operators;    // io/onnx/onnx_operator.hpp
class scope;             // tensor/scope.hpp
struct inference_model;  // io/inference_model.hpp
struct program_message;  // io/fluid/program_message.hpp

/// The version of the ONNX operator set that the files use, and the version of their format.
inline constexpr int onnx_opset = 21;
inline constexpr int onnx_ir_version = 10;

/// Options of export_onnx.
struct onnx_options {
  const onnx_operators* operators = nullptr;  // null: known_onnx_operators()
  /// Domains of custom operators, with their versions.
  std::vector<std::pair<std::string, std::int64_t>> domains{};
};

}}  // namespace lamina

namespace lamina { inline namespace LAMINA_ABI {

/// Returns the conversions of all operators of the library that ONNX can express.
LAMINA_API const onnx_operators& known_onnx_operators();

/// Returns the bytes of an ONNX file with the part of a program that computes `targets` from
/// `feeds`, in test mode, with its parameters from a scope. Feeds and targets keep their names; the
/// first dimension of values with rows is the symbol "batch". Throws lamina::error for a target
/// that is not a result, and for an operator that ONNX cannot express; the message names the
/// operator, its layer and the reason.
LAMINA_API std::string to_onnx(const program_message& program, const scope& parameters,
                               const std::vector<std::string>& feeds,
                               const std::vector<std::string>& targets,
                               const onnx_options& options = {});

/// Returns the bytes of an ONNX file for a recorded program, `net.view()`. If there are no targets,
/// they are the variables that the program returns.
LAMINA_API std::string to_onnx(const program_view& program, const scope& parameters,
                               std::vector<std::string> targets = {},
                               const onnx_options& options = {});

}}  // namespace lamina

namespace lamina { inline namespace LAMINA_ABI { namespace detail {

LAMINA_API void write_onnx(const file_path& file, const model_values& from,
                           const std::vector<std::string>& targets, const onnx_options& options);
LAMINA_API void write_onnx(const file_path& file, const program_message& program,
                           const scope& parameters, const std::vector<std::string>& feeds,
                           const std::vector<std::string>& targets, const onnx_options& options);

}}}  // namespace lamina::detail

#if LAMINA_DEFINES

namespace lamina { inline namespace LAMINA_ABI {

const onnx_operators& known_onnx_operators() {
  static const onnx_operators all = [] {
    onnx_operators made;
    onnx::add_library_conversions(made);
    return made;
  }();
  return all;
}

std::string to_onnx(const program_message& program, const scope& parameters,
                    const std::vector<std::string>& feeds, const std::vector<std::string>& targets,
                    const onnx_options& options) {
  program_message inference = pruned_message(program, targets);
  set_test_mode(inference);
  onnx_program to(inference, parameters,
                  options.operators != nullptr ? *options.operators : known_onnx_operators(),
                  targets);
  for (const std::string& name : feeds)
    if (inference.blocks[0].find(name) != nullptr) to.feed(name);
  add_onnx_block(to, 0);
  std::vector<onnx_value> outputs;
  for (const std::string& name : targets) {
    const auto value = to.now.values.find(name);
    if (value == to.now.values.end() || std::find(feeds.begin(), feeds.end(), name) != feeds.end())
      throw error("lamina: export_onnx: expected targets that operators compute, found '" + name +
                  "'");
    if (value->second != name) to.graph.node("Identity", {value->second}, {name});
    outputs.push_back(onnx_program::described(to.variable(name), name));
  }
  onnx_model model;
  model.graph = to.graph.close("lamina", {}, std::move(outputs));
  model.ir_version = onnx_ir_version;
  model.opset = onnx_opset;
  model.other_opsets = options.domains;
  model.producer = "lamina";
  model.producer_version = std::to_string(LAMINA_VERSION_MAJOR) + "." +
                           std::to_string(LAMINA_VERSION_MINOR) + "." +
                           std::to_string(LAMINA_VERSION_PATCH);
  return to_onnx(model);
}

std::string to_onnx(const program_view& program, const scope& parameters,
                    std::vector<std::string> targets, const onnx_options& options) {
  std::vector<std::string> feeds;
  for (int i = 0; i < program.count.data; ++i)
    feeds.push_back(variable_name(program, program.data[i]));
  const bool all = targets.empty();
  for (int i = 0; i < program.count.outputs && all; ++i) {
    const std::string name = variable_name(program, program.outputs[i]);
    if (std::find(targets.begin(), targets.end(), name) == targets.end()) targets.push_back(name);
  }
  return to_onnx(to_program_message(program), parameters, feeds, targets, options);
}

}}  // namespace lamina

namespace lamina { inline namespace LAMINA_ABI { namespace detail {

void write_onnx(const file_path& file, const model_values& from,
                const std::vector<std::string>& targets, const onnx_options& options) {
  scope parameters;
  copy_parameters(from, parameters);
  write_file(file.string(),
             to_onnx(from.program, parameters, variables_named(from.program, targets), options));
}
void write_onnx(const file_path& file, const program_message& program, const scope& parameters,
                const std::vector<std::string>& feeds, const std::vector<std::string>& targets,
                const onnx_options& options) {
  write_file(file.string(), to_onnx(program, parameters, feeds, targets, options));
}

}}}  // namespace lamina::detail

#endif  // LAMINA_DEFINES
