// SPDX-License-Identifier: Apache-2.0
// lamina/codegen/import_onnx.hpp - converts an ONNX file to C++ source and a file of its
// parameters. Needs protozero and nlohmann_json.
#pragma once

#include <lamina/core/config.hpp>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <lamina/codegen/batch_rows.hpp>
#include <lamina/codegen/import_model.hpp>
#include <lamina/codegen/onnx_layers.hpp>
#include <lamina/core/files/file.hpp>
#include <lamina/core/messages/error.hpp>
#include <lamina/core/messages/text.hpp>
#include <lamina/io/fluid/program_message.hpp>
#include <lamina/io/load_onnx.hpp>

namespace lamina { inline namespace LAMINA_ABI {

/// Options of import_onnx. By default, the names of the file are the names of inputs, outputs and
/// parameters only.
struct onnx_import_options : import_options {
  onnx_import_options() { names_layers = false; }

  onnx_load_options load{};  // extents of symbolic dimensions, values of inputs
};

namespace detail {

/// Throws format_error if no input has rows, and yet a dimension of a result is known only during a
/// run, for example because an input holds the dimensions of a Reshape.
inline void require_known_dims(const program_message& program, const std::string& file) {
  const block_message& main = program.blocks[0];
  const auto of = [&](const std::string& name) {
    const variable_message* const v = main.find(name);
    return v == nullptr ? std::vector<std::int64_t>() : v->dims;
  };
  for (const operator_message& op : main.operators)
    for (const std::string& name :
         op.type == "feed" ? op.output("Out") : std::vector<std::string>())
      if (const auto dims = of(name); !dims.empty() && dims[0] < 0) return;
  for (const operator_message& op : main.operators) {
    if (op.type == "feed" || op.type == "fetch") continue;
    for (const slot_message& s : op.outputs)
      for (const std::string& name : s.arguments)
        for (const std::int64_t d : of(name))
          if (d < 0)
            throw format_error(file, op.offset,
                               std::string(text("expected dimensions of '")
                                           << name << "' that are known before a run, found "
                                           << text().list(of(name)) << " (operator '" << op.type
                                           << "'); an input that determines dimensions must be "
                                              "constant"));
  }
}

}  // namespace detail

/// Reads an ONNX file, and writes its program as a C++ header and its parameters as safetensors, as
/// import_model does. A symbolic first dimension of inputs becomes rows, one per sample; so does a
/// fixed one if all inputs have it and each row of the outputs depends on the same row of the
/// inputs only. Otherwise inputs have no rows (layer::data_once), and the shapes of the file.
/// Products with matrices of parameters become fc, whose weights are transposed if ONNX
/// stores one row per result. Parameters of real numbers keep their names; integers and single
/// numbers that are not parameters become constants of the program.
/// Throws format_error as load_onnx and native_source do; then neither file is changed.
inline void import_onnx(const file_path& file, const file_path& header,
                        const onnx_import_options& options = {}) {
  inference_model read = load_onnx(file, options.load);
  program_message program = read.program.message();
  if (auto rows = detail::batch_rows(program).found()) program = std::move(*rows);
  detail::require_known_dims(program, read.program.source());
  program = detail::onnx_layers(std::move(program), *read.variables).rewritten();
  read.program = loaded_program(std::move(program), read.program.source());
  import_model(read, header, options);
}

}}  // namespace lamina
