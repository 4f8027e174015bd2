// SPDX-License-Identifier: Apache-2.0
// lamina/io/export_onnx.hpp - writes programs and models to ONNX files.
//
// An ONNX file contains a graph of nodes in which exactly one node writes each value. The file does
// not fix the number of samples of a batch, so one file serves batches of every size.
#pragma once

#include <lamina/core/config.hpp>

#include <concepts>
#include <string>
#include <vector>

#include <lamina/core/files/file.hpp>
#include <lamina/io/model_values.hpp>
#include <lamina/io/onnx_writer.hpp>

namespace lamina { inline namespace LAMINA_ABI {

/// Writes the part of a model that computes `targets`, names of layers or variables, to an ONNX
/// file. If `targets` is empty, the targets are the variables that the program returns. An existing
/// file stays intact until the new one is complete. (The tests in test/interop check files with
/// onnx.checker and ONNX Runtime.)
template <program_type P>
void export_onnx(const file_path& file, const model<P>& from,
                 const std::vector<std::string>& targets = {}, const onnx_options& options = {}) {
  detail::write_onnx(file, values_of(from), targets, options);
}

template <program_type P>
void export_onnx(const file_path&, const P&,  // expects lamina::model{program}
                 const std::vector<std::string>& = {}, const onnx_options& = {}) = delete;

/// Writes a program and its parameters, which were read from files of lamina or PaddlePaddle, to an
/// ONNX file. `Model` is always inference_model; it is a template parameter so that this header
/// need not include inference_model.hpp.
template <std::same_as<inference_model> Model>
void export_onnx(const file_path& file, const Model& from, const onnx_options& options = {}) {
  detail::write_onnx(file, from.program.message(), *from.variables, from.program.feed_names(),
                     from.program.fetch_names(), options);
}

}}  // namespace lamina
