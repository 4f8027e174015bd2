// SPDX-License-Identifier: Apache-2.0
// lamina/io/load_onnx.hpp - reads ONNX files, for the executor. Needs protozero.
#pragma once

#include <lamina/core/config.hpp>

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <lamina/core/files/file.hpp>
#include <lamina/executor/executor.hpp>
#include <lamina/io/inference_model.hpp>
#include <lamina/io/onnx/onnx_graph_import.hpp>
#include <lamina/io/onnx/onnx_reader.hpp>
#include <lamina/io/onnx_writer.hpp>
#include <lamina/io/simplified.hpp>
#include <lamina/tensor/tensor.hpp>

namespace lamina { inline namespace LAMINA_ABI {

/// Options of load_onnx.
struct onnx_load_options {
  /// Values of inputs that become constants, so that a run does not feed them. Inputs that
  /// determine the number of dimensions or the operators, such as the axes of a reduction, must be
  /// constant.
  std::map<std::string, tensor> fixed{};
  /// Extents of symbolic dimensions of inputs, by their names: {{"seq", 128}}.
  std::map<std::string, std::int64_t> dims{};
  /// The extent of the first dimension of inputs that does not have a known one; -1: keep it
  /// unknown.
  std::int64_t batch = -1;
  const onnx_operators* operators = nullptr;  // null: known_onnx_operators()
  /// The largest number of elements of a constant that nodes compute from other constants.
  std::uint64_t largest_constant = std::uint64_t{1} << 28;
  /// The passes that simplify the program; simplify_options::none() keeps the operators of the
  /// file.
  simplify_options simplify{};
};

/// Reads the bytes of an ONNX file, as load_onnx does; `file` is the path in errors, and its folder
/// is that of external data.
inline inference_model from_onnx(std::string_view bytes, const std::string& file,
                                 const onnx_load_options& options = {}) {
  const onnx_model_message model = read_onnx_model(bytes, file);
  basic_executor<double> executor;
  onnx_import to(
      file,
      [&](program_message program, scope& constants, const std::vector<std::string>& fetch) {
        const loaded_program loaded(std::move(program), file);
        return executor.run(loaded, constants, {}, fetch);
      },
      options.largest_constant);
  onnx_graph_import(model,
                    options.operators != nullptr ? *options.operators : known_onnx_operators(), to,
                    options.fixed, {options.dims, options.batch})
      .run();
  auto variables = std::make_unique<scope>();
  program_message program = to.finish(*variables);
  if (!model.graph.outputs.empty())
    program = simplified(std::move(program), *variables, options.simplify);
  for (const std::string& name : variables->names())
    if (program.blocks[0].find(name) == nullptr) variables->drop(name);
  return {loaded_program(std::move(program), file), std::move(variables)};
}

/// Reads an ONNX file of operator set 6 or later: `auto m = load_onnx("model.onnx");
/// executor.run(m.program, *m.variables, feed)` returns the outputs. Inputs and outputs keep their
/// names; `m.variables` holds the initializers. Dimensions may be known only at run time: the
/// batch, the length of a sequence, the sides of an image. A scalar of ONNX has the shape [1].
/// Elements of float16, bfloat16 and smaller floats are computed as float. Throws format_error,
/// with the offset and the name of the node, for damaged files and for nodes that lamina does not
/// have. If operators are unknown, one error lists all of them. External data is read from the
/// file's folder only.
inline inference_model load_onnx(const file_path& file, const onnx_load_options& options = {}) {
  return from_onnx(read_file(file.string()), file.string(), options);
}

}}  // namespace lamina
