// SPDX-License-Identifier: Apache-2.0
// lamina/codegen/import_onnx.hpp - converts an ONNX file to C++ source and a file of its
// parameters. Needs protozero and nlohmann_json.
#pragma once

#include <lamina/core/config.hpp>

#include <cstdint>
#include <cstring>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <lamina/codegen/batch_rows.hpp>
#include <lamina/codegen/import_model.hpp>
#include <lamina/codegen/onnx_layers.hpp>
#include <lamina/codegen/onnx_names.hpp>
#include <lamina/core/files/file.hpp>
#include <lamina/core/messages/error.hpp>
#include <lamina/core/messages/text.hpp>
#include <lamina/io/fluid/program_message.hpp>
#include <lamina/io/load_onnx.hpp>
#include <lamina/tensor/scope.hpp>

namespace lamina { inline namespace LAMINA_ABI {

/// Options of import_onnx. By default, the names of the file are the names of inputs, outputs and
/// parameters only.
struct onnx_import_options : import_options {
  onnx_import_options() { names_layers = false; }

  onnx_load_options load{};  // extents of symbolic dimensions, values of inputs
};

namespace detail {

/// Throws format_error if an input has a symbolic dimension behind its first one without an extent
/// in the options: a compiled program knows all dimensions but the number of rows.
inline void require_extents(const onnx_model_message& model, const std::string& file,
                            const onnx_load_options& options) {
  std::set<std::string> given, names;
  for (const onnx_tensor_message& t : model.graph.initializers) given.insert(t.name);
  for (const onnx_value_message& input : model.graph.inputs)
    for (std::size_t d = 1; d < input.dims.size(); ++d) {
      if (input.dims[d] >= 0 || given.count(input.name) != 0 ||
          options.fixed.count(input.name) != 0)
        continue;
      if (input.dim_names[d].empty())
        throw format_error(file, input.offset,
                           text("expected a number or a name of dimension ")
                               << d << " of input '" << input.name
                               << "', found neither; export the model with one");
      if (options.dims.count(input.dim_names[d]) == 0) names.insert(input.dim_names[d]);
    }
  if (names.empty()) return;
  text what("expected an extent of each symbolic dimension after the first one of the inputs; ");
  what << "give them, each with a number in place of N:";
  for (const std::string& name : names) what << " --dim " << name << "=N";
  throw format_error(file, model.graph.offset, what);
}

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
                                              "constant; --batch N or --dim NAME=N gives a "
                                              "symbolic dimension an extent"));
  }
}

/// Returns whether two programs have the same operators, variables and constants.
inline bool is_equal(const program_message& a, const scope& of_a, const program_message& b,
                     const scope& of_b) {
  if (a.blocks[0].operators != b.blocks[0].operators ||
      a.blocks[0].variables != b.blocks[0].variables)
    return false;
  for (const variable_message& v : a.blocks[0].variables) {
    const lod_tensor *const x = of_a.find(v.name), *const y = of_b.find(v.name);
    if ((x == nullptr) != (y == nullptr)) return false;
    if (x == nullptr) continue;
    const bool same = x->type() == y->type() && x->size() == y->size() && x->visit([&](auto& of_x) {
      return y->visit([&](auto& of_y) {
        return std::memcmp(of_x.data(), of_y.data(), of_x.size() * sizeof *of_x.data()) == 0;
      });
    });
    if (!same) return false;
  }
  return true;
}

/// Makes rows of the first dimension of a program, if it is a batch. Returns whether it did.
inline bool make_rows(inference_model& read) {
  auto rows = batch_rows(read.program.message(), *read.variables).found();
  if (rows) read.program = loaded_program(std::move(*rows), read.program.source());
  for (const std::string& name : read.variables->names())
    if (read.program.message().blocks[0].find(name) == nullptr) read.variables->drop(name);
  return rows.has_value();
}

/// Reads a file. If inputs have a symbolic first dimension, reads it for two batches, and makes
/// rows of this dimension in both programs; if these are equal, they do not depend on the batch.
/// Otherwise reads the file as the options say.
inline inference_model read_rows(const file_path& file, const onnx_load_options& options) {
  std::optional<inference_model> first;
  for (const std::int64_t batch : {7, 11}) {
    if (options.batch >= 0) break;
    onnx_load_options fixed = options;
    fixed.batch = batch;
    try {
      inference_model read = load_onnx(file, fixed);
      bool any = false;  // whether an input has this batch
      for (const std::string& name : read.program.feed_names()) {
        const variable_message* const v = read.program.message().blocks[0].find(name);
        any = any || (v != nullptr && !v->dims.empty() && v->dims[0] == batch);
      }
      const bool found = make_rows(read);
      if (!any) return read;
      if (!found) break;
      if (!first)
        first = std::move(read);
      else if (is_equal(first->program.message(), *first->variables, read.program.message(),
                        *read.variables))
        return std::move(*first);
    } catch (const error&) {  // the message for the file as it is fits better
      break;
    }
  }
  inference_model read = load_onnx(file, options);
  make_rows(read);
  return read;
}

}  // namespace detail

/// Writes a program that was read for the executor as a C++ header and its parameters as
/// safetensors, as import_model does. Products with matrices of parameters become fc. Throws
/// format_error as native_source does; then neither file is changed.
inline void import_loaded(inference_model read, const file_path& header,
                          const import_options& options = {}) {
  program_message program =
      detail::onnx_layers(read.program.message(), *read.variables).rewritten();
  detail::onnx_names names(std::move(program));
  read.program = loaded_program(names.named(), read.program.source());
  import_options rest = options;
  rest.unnamed = names.unnamed();
  import_model(read, header, rest);
}

/// Reads an ONNX file, and writes its program as a C++ header and its parameters as safetensors, as
/// import_model does. A symbolic first dimension of inputs becomes rows, one per sample; so does a
/// fixed one if all inputs have it and each row of the outputs depends on the same row of the
/// inputs only. Otherwise inputs have no rows (layer::data_once), and the shapes of the file.
/// Products with matrices of parameters become fc, whose weights are transposed if ONNX
/// stores one row per result, and lookups become embeddings, whose ids are at least 0. Parameters
/// of real numbers, inputs and outputs keep their names; layers with parameters have the names of
/// their modules, other layers generated names, and a comment with the node from which they come.
/// Integers and single numbers that are not parameters become constants of the program.
/// Throws format_error as load_onnx and native_source do; then neither file is changed.
inline void import_onnx(const file_path& file, const file_path& header,
                        const onnx_import_options& options = {}) {
  inference_model read = detail::read_rows(file, options.load);
  detail::require_extents(read_onnx_model(read_file(file.string()), file.string()), file.string(),
                          options.load);
  detail::require_known_dims(read.program.message(), read.program.source());
  bool has_rows = false;
  for (const std::string& name : read.program.feed_names())
    if (const variable_message* const v = read.program.message().blocks[0].find(name))
      has_rows = has_rows || (!v->dims.empty() && v->dims[0] < 0);
  try {
    import_loaded(std::move(read), header, options);
  } catch (const format_error& e) {
    if (!has_rows) throw;
    const std::string what = e.what(), place = text("lamina: ")
                                               << e.file() << ", offset " << e.offset() << ": ";
    throw format_error(e.file(), e.offset(),
                       what.substr(place.size()) +
                           "; --batch N makes a program for N samples at once instead of rows");
  }
}

}}  // namespace lamina
