// SPDX-License-Identifier: Apache-2.0
// lamina/io/compiled/onnx_writer.hpp - the options of export_onnx, and the functions that it calls,
// which see no type of a program.
#pragma once

#include <lamina/core/config.hpp>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <lamina/core/file.hpp>
#include <lamina/io/compiled/compiled_io.hpp>
#include <lamina/io/model_values.hpp>

namespace lamina::inline LAMINA_ABI {

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

}  // namespace lamina::inline LAMINA_ABI

namespace lamina::inline LAMINA_ABI::inline LAMINA_IO_ABI {

/// The conversions of all operators of the library that ONNX can express.
const onnx_operators& known_onnx_operators();

/// The bytes of an ONNX file with the part of a program that computes `targets` from `feeds`, in
/// test mode, with its parameters from a scope. Feeds and targets keep their names; the first
/// dimension of values with rows is the symbol "batch". Throws lamina::error for a target that is
/// not a result, and for an operator that ONNX cannot express; the message names the operator, its
/// layer and the reason.
std::string to_onnx(const program_message& program, const scope& parameters,
                    const std::vector<std::string>& feeds, const std::vector<std::string>& targets,
                    const onnx_options& options = {});

/// The bytes of an ONNX file for a recorded program, `net.view()`. Without targets the targets are
/// the variables that it returns.
std::string to_onnx(const program_view& program, const scope& parameters,
                    std::vector<std::string> targets = {}, const onnx_options& options = {});

}  // namespace lamina::inline LAMINA_ABI::inline LAMINA_IO_ABI

namespace lamina::inline LAMINA_ABI::detail::inline LAMINA_IO_ABI {

void write_onnx(const file_path& file, const model_values& from,
                const std::vector<std::string>& targets, const onnx_options& options);
void write_onnx(const file_path& file, const program_message& program, const scope& parameters,
                const std::vector<std::string>& feeds, const std::vector<std::string>& targets,
                const onnx_options& options);

}  // namespace lamina::inline LAMINA_ABI::detail::inline LAMINA_IO_ABI
