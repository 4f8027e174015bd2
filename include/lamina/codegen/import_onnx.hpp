// SPDX-License-Identifier: Apache-2.0
// lamina/codegen/import_onnx.hpp - converts an ONNX file to C++ source and a file of its
// parameters. Needs protozero and nlohmann_json.
#pragma once

#include <lamina/core/config.hpp>

#include <lamina/codegen/import_model.hpp>
#include <lamina/core/files/file.hpp>
#include <lamina/io/load_onnx.hpp>

namespace lamina { inline namespace LAMINA_ABI {

/// Options of import_onnx.
struct onnx_import_options : import_options {
  onnx_load_options load{};  // extents of symbolic dimensions, values of inputs
};

/// Reads an ONNX file, and writes its program as a C++ header and its parameters as safetensors, as
/// import_model does. Throws format_error as load_onnx and native_source do; then neither file is
/// changed.
inline void import_onnx(const file_path& file, const file_path& header,
                        const onnx_import_options& options = {}) {
  import_model(load_onnx(file, options.load), header, options);
}

}}  // namespace lamina
