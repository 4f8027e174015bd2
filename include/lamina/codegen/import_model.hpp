// SPDX-License-Identifier: Apache-2.0
// lamina/codegen/import_model.hpp - converts a saved model to C++ source and a file of its
// parameters. Needs protozero and nlohmann_json.
#pragma once

#include <lamina/core/config.hpp>

#include <cerrno>
#include <cstddef>
#include <memory>
#include <set>
#include <string>
#include <utility>

#include <lamina/codegen/native_source.hpp>
#include <lamina/core/files/file.hpp>
#include <lamina/core/files/paths.hpp>
#include <lamina/core/messages/error.hpp>
#include <lamina/io/inference_model.hpp>
#include <lamina/io/safetensors.hpp>
#include <lamina/io/simplified.hpp>

namespace lamina { inline namespace LAMINA_ABI {

/// Options of import_model.
struct import_options {
  inference_files files{};   // the names of the files in the directory
  std::string name = "net";  // the name of the program in the header
  std::string weights = "";  // the file of the parameters; if empty, the name of the
                             // header with .safetensors
  bool simplify = false;     // writes simplified(program): fewer operators, for inference only
  std::set<std::string> unnamed{};  // variables whose layers get generated names
  bool names_layers = true;         // native_options::names_layers
};

namespace detail {

/// Returns a simplified copy of a program and its parameters.
inline inference_model simplified_copy(const inference_model& read) {
  auto values = std::make_unique<scope>();
  for (const std::string& name : read.variables->names())
    values->var(name) = read.variables->get(name);
  program_message made = simplified(read.program.message(), *values);
  for (const std::string& name : values->names())
    if (made.blocks[0].find(name) == nullptr) values->drop(name);
  return {loaded_program(std::move(made), read.program.source()), std::move(values)};
}

/// Returns the names of the constants that native_source writes into the program: persistable
/// variables that are not parameters and that no operator writes.
inline std::set<std::string> written_constants(const loaded_program& program) {
  bool told = false;  // only some files mark parameters
  for (const block_message& b : program.message().blocks)
    for (const variable_message& v : b.variables) told = told || v.is_parameter;
  std::set<std::string> names;
  for (const block_message& b : program.message().blocks)
    for (const variable_message& v : b.variables)
      if (v.persistable && !v.is_parameter && (told || !is_floating(v.type))) names.insert(v.name);
  for (const block_message& b : program.message().blocks)
    for (const operator_message& op : b.operators)
      for (const slot_message& s : op.outputs)
        for (const std::string& name : s.arguments) names.erase(name);
  return names;
}

}  // namespace detail

/// Writes a program and its parameters, which were read from a file, as a C++ header
/// (native_source) and a safetensors file. If an error is thrown, neither file is changed. Throws
/// format_error for programs that native_source cannot write.
inline void import_model(const inference_model& read, const file_path& header,
                         const import_options& options = {}) {
  if (options.simplify && !read.program.fetch_names().empty()) {
    import_options rest = options;
    rest.simplify = false;
    return import_model(detail::simplified_copy(read), header, rest);
  }
  std::string weights = options.weights;
  if (weights.empty()) {
    weights = header.string();
    const std::size_t dot = weights.rfind('.');
    if (dot != std::string::npos && dot >= detail::folder_of(weights).size()) weights.resize(dot);
    weights += ".safetensors";
  }
  const std::string file = detail::file_name_of(weights);
  const std::string source = native_source(
      read.program,
      {options.name, "", file, read.variables.get(), options.unnamed, options.names_layers});
  scope own;  // the values that the program keeps, converted from Fluid's form
  if (detail::fluid_updates::are_in(read.program.message())) {
    detail::own_training(read.program, read.variables.get()).copy_values(*read.variables, own);
  } else {
    const std::set<std::string> constants = detail::written_constants(read.program);
    for (const std::string& name : read.variables->names())
      if (constants.count(name) == 0) own.var(name) = read.variables->get(name);
  }
  written_file text_file(header.string());
  const auto require = [&](bool done) {
    if (!done)
      throw error("lamina: " + header.string() + ": cannot be written: " + reason_of(errno));
  };
  // The header is written under a temporary name before the parameters, and gets its name after
  // them, so that no file is replaced if the other one cannot be written.
  require(text_file.open() && text_file.write(source.data(), source.size()));
  save_safetensors(weights, own);
  require(text_file.keep());
}

/// Reads a directory that save_inference_model of lamina or PaddlePaddle wrote, and writes its
/// program as a C++ header and its parameters as safetensors. A program that includes the header
/// uses the net like a net that is written by hand: `lamina::model m{net};
/// lamina::load_safetensors("net.safetensors", m);`. Throws format_error for programs that
/// native_source cannot write, and for damaged files.
inline void import_model(const file_path& directory, const file_path& header,
                         const import_options& options = {}) {
  import_model(load_inference_model(directory, options.files), header, options);
}

}}  // namespace lamina
