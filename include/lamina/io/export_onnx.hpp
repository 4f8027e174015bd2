// SPDX-License-Identifier: Apache-2.0
// lamina/io/export_onnx.hpp - programs and models as ONNX files.
//
// ONNX: a graph of nodes, each value written once. The number of rows of a batch is not fixed: one
// file serves every batch.
#pragma once

#include <lamina/core/config.hpp>

#include <concepts>
#include <string>
#include <vector>

#include <lamina/core/file.hpp>
#include <lamina/io/model_values.hpp>
#include <lamina/io/onnx_writer.hpp>

namespace lamina::inline LAMINA_ABI {

/// Writes the part of a model that computes `targets`, layers or variables by name, to an ONNX
/// file. Without targets the targets are the variables that its program returns. An existing file
/// stays complete until the new one is. Tested with onnx.checker and ONNX Runtime: test/interop.
template <program_type P>
void export_onnx(const file_path& file, const model<P>& from,
                 const std::vector<std::string>& targets = {}, const onnx_options& options = {}) {
  detail::write_onnx(file, values_of(from), targets, options);
}

template <program_type P>
void export_onnx(const file_path&, const P&,  // expects lamina::model{program}
                 const std::vector<std::string>& = {}, const onnx_options& = {}) = delete;

/// Writes a program and its parameters, which were read from files (PaddlePaddle's included), to an
/// ONNX file. `Model` is inference_model, whose header a program that has one includes.
template <std::same_as<inference_model> Model>
void export_onnx(const file_path& file, const Model& from, const onnx_options& options = {}) {
  detail::write_onnx(file, from.program.message(), *from.variables, from.program.feed_names(),
                     from.program.fetch_names(), options);
}

}  // namespace lamina::inline LAMINA_ABI
