// SPDX-License-Identifier: Apache-2.0
// lamina/cli/import_main.hpp - the command that converts a saved model to C++. The CMake function
// lamina_import runs it.
#pragma once

#include <lamina/core/config.hpp>

#include <cstdint>
#include <cstdio>
#include <exception>
#include <map>
#include <string>
#include <string_view>

#include <lamina/codegen/import_model.hpp>
#include <lamina/codegen/import_onnx.hpp>
#include <lamina/core/files/paths.hpp>
#include <lamina/core/messages/error.hpp>
#include <lamina/core/system/system.hpp>
#include <lamina/io/fluid/program_message.hpp>
#include <lamina/io/load_nam.hpp>
#include <lamina/io/load_rtneural.hpp>

namespace lamina { inline namespace LAMINA_ABI {

namespace detail {

/// Reads `NAME=VALUE`, with a VALUE of at least 1, into `to`. Returns false for other texts.
inline bool read_dimension(std::string_view text, std::map<std::string, std::int64_t>& to) {
  const std::size_t equals = text.rfind('=');
  if (equals == std::string_view::npos || equals == 0) return false;
  std::int64_t value = 0;
  if (!read_number(text.substr(equals + 1), value) || value < 1) return false;
  to[std::string(text.substr(0, equals))] = value;
  return true;
}

}  // namespace detail

/// `import MODEL --out HEADER [--name NAME] [--weights FILE] [--parameters FILE] [--batch N] [--dim
/// NAME=VALUE]... [--block N]`. MODEL is an ONNX file, whose name ends with `.onnx`, a net for
/// sound in a `.nam` file or in a `.json` file of RTNeural, the folder that save_inference_model
/// wrote, or the program file in this folder. If one file in the folder has all parameters,
/// `--parameters` names it. `--batch` and `--dim` are for ONNX files: `--batch` is the extent of a
/// symbolic first dimension of inputs, `--dim` that of the symbolic dimension NAME.
/// `--block` is the number of samples that one run of a net for sound processes.
/// Returns the exit code of main: 0 on success; 1, after a line on stderr, if the model cannot be
/// imported; 2 for invalid arguments.
inline int import_main(int argc, const char* const* argv) {
  const auto usage = [] {
    std::fputs(
        "usage: import MODEL --out HEADER [--name NAME] [--weights FILE] "
        "[--parameters FILE] [--batch N] [--dim NAME=VALUE]... [--block N]\n",
        stderr);
    return 2;
  };
  std::string model, header;
  onnx_import_options options;
  nam_options sound;
  bool has_extents = false, has_block = false;
  for (int i = 1; i < argc; ++i) {
    const std::string_view flag = argv[i];
    std::string* const to = flag == "--out"          ? &header
                            : flag == "--name"       ? &options.name
                            : flag == "--weights"    ? &options.weights
                            : flag == "--parameters" ? &options.files.parameters
                                                     : nullptr;
    if ((flag == "--batch" || flag == "--dim") && i + 1 < argc) {
      const std::string_view value = argv[++i];
      std::int64_t& batch = options.load.batch;
      if (flag == "--batch" ? !detail::read_number(value, batch) || batch < 1
                            : !detail::read_dimension(value, options.load.dims))
        return usage();
      has_extents = true;
    } else if (flag == "--block" && i + 1 < argc) {
      if (!detail::read_number(std::string_view(argv[++i]), sound.block) || sound.block < 1)
        return usage();
      has_block = true;
    } else if (to != nullptr && i + 1 < argc) {
      *to = argv[++i];
    } else if (to == nullptr && model.empty() && !flag.starts_with("-")) {
      model = flag;
    } else {
      return usage();
    }
  }
  const bool is_onnx = model.ends_with(".onnx");
  const bool is_nam = model.ends_with(".nam"), is_sound = is_nam || model.ends_with(".json");
  if (model.empty() || header.empty() || (has_extents && !is_onnx) || (has_block && !is_sound))
    return usage();
  try {
    if (is_sound) {
      import_loaded(is_nam ? load_nam(model, sound) : load_rtneural(model, sound), header, options);
      return 0;
    }
    if (is_onnx) {
      import_onnx(model, header, options);
      return 0;
    }
    const detail::system::file_kind kind = detail::system::status_of(model).kind;
    if (kind != detail::system::file_kind::missing && kind != detail::system::file_kind::folder) {
      options.files.program = detail::file_name_of(model);
      model = detail::folder_of(model);
      if (model.size() > 1) model.pop_back();  // the separator
      if (model.empty()) model = ".";
    }
    options.names_layers = true;  // those of the file, as in Fluid
    import_model(model, header, options);
    return 0;
  } catch (const std::exception& e) {
    std::fprintf(stderr, "import: %s\n", e.what());
    return 1;
  }
}

}}  // namespace lamina
