// SPDX-License-Identifier: Apache-2.0
// lamina/io/export_onnx.hpp - writes programs and models to ONNX files.
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

namespace lamina { inline namespace LAMINA_ABI {

/// Writes the part of a model that computes `targets`, given as names of layers or variables, to an
/// ONNX file. If there are no targets, they are the variables that its program returns. An existing
/// file stays intact until the new one is complete. Tested with onnx.checker and ONNX Runtime:
/// test/interop.
template <program_type P>
void export_onnx(const file_path& file, const model<P>& from,
                 const std::vector<std::string>& targets = {}, const onnx_options& options = {}) {
  detail::write_onnx(file, values_of(from), targets, options);
}

template <program_type P>
void export_onnx(const file_path&, const P&,  // expects lamina::model{program}
                 const std::vector<std::string>& = {}, const onnx_options& = {}) = delete;

/// Writes a program and its parameters that were read from files (also PaddlePaddle's) to an ONNX
/// file. `Model` is inference_model; this header does not include it.
template <std::same_as<inference_model> Model>
void export_onnx(const file_path& file, const Model& from, const onnx_options& options = {}) {
  detail::write_onnx(file, from.program.message(), *from.variables, from.program.feed_names(),
                     from.program.fetch_names(), options);
}

}}  // namespace lamina
