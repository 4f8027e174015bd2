// SPDX-License-Identifier: Apache-2.0
// lamina/cli/import_main.hpp - the command that converts a saved model to C++. The CMake function
// lamina_import runs it.
#pragma once

#include <lamina/core/config.hpp>

#include <cstdio>
#include <exception>
#include <string>
#include <string_view>

#include <sys/stat.h>

#include <lamina/codegen/import_model.hpp>
#include <lamina/core/messages/error.hpp>

namespace lamina { inline namespace LAMINA_ABI {

/// `import MODEL --out HEADER [--name NAME] [--weights FILE] [--parameters FILE]`. MODEL is the
/// folder that save_inference_model wrote, or the program file in this folder. If one file in the
/// folder has all parameters, `--parameters` names it. Returns the exit code of main: 0 on success;
/// 1, after a line on stderr, if the model cannot be imported; 2 for invalid arguments.
inline int import_main(int argc, const char* const* argv) {
  const auto usage = [] {
    std::fputs(
        "usage: import MODEL --out HEADER [--name NAME] [--weights FILE] "
        "[--parameters FILE]\n",
        stderr);
    return 2;
  };
  std::string model, header;
  import_options options;
  for (int i = 1; i < argc; ++i) {
    const std::string_view flag = argv[i];
    std::string* const to = flag == "--out"          ? &header
                            : flag == "--name"       ? &options.name
                            : flag == "--weights"    ? &options.weights
                            : flag == "--parameters" ? &options.files.parameters
                                                     : nullptr;
    if (to != nullptr && i + 1 < argc)
      *to = argv[++i];
    else if (to == nullptr && model.empty() && !flag.starts_with("-"))
      model = flag;
    else
      return usage();
  }
  if (model.empty() || header.empty()) return usage();
  try {
    struct ::stat about = {};
    if (::stat(model.c_str(), &about) == 0 && !S_ISDIR(about.st_mode)) {
      const std::size_t slash = model.rfind('/');
      options.files.program = model.substr(slash + 1);
      model = slash == std::string::npos ? "." : model.substr(0, slash);
    }
    import_model(model, header, options);
    return 0;
  } catch (const std::exception& e) {
    std::fprintf(stderr, "import: %s\n", e.what());
    return 1;
  }
}

}}  // namespace lamina
