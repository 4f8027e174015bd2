// SPDX-License-Identifier: Apache-2.0
// The files of the cases as C++ programs.
#include <algorithm>
#include <cstdio>
#include <string_view>

#include <interop/native_cases.hpp>

#include <lamina/codegen/native_source.hpp>
#include <lamina/core/files/file.hpp>
#include <lamina/io/inference_model.hpp>

namespace interop {
namespace {

// A header without what a file has once: its functions, and its program.
std::string body_of(std::string source) {
  const std::string_view program = "inline constexpr auto ";
  source.erase(0, (std::min)(source.find(program), source.find("// Called ")));
  return source.replace(source.find(program), program.size(), "constexpr auto ");
}

}  // namespace

int write_native_cases(const std::string& folder) {
  std::vector<std::string> names;
  lamina::for_each_name(folder, [&](std::string_view name) {
    constexpr std::string_view gradient = "_grad";
    const bool trains =
        name.starts_with("step_") || (name.size() > gradient.size() && name.ends_with(gradient));
    if (name[0] != '.' && name.find('.') == std::string_view::npos && !trains)
      names.emplace_back(name);
  });
  std::sort(names.begin(), names.end());
  std::string programs, table, reasons;
  int made = 0, refused = 0;
  for (const std::string& name : names) {
    const lamina::loaded_program read =
        lamina::load_program_desc(folder + "/" + name + "/__model__");
    bool in_double = false;
    for (int v = 0; v < read.view().count.variables; ++v)
      in_double = in_double || read.view().variables[v].type == lamina::dtype::float64;
    in_double = in_double && name.ends_with("_in_double");
    try {
      const std::string number = "case_" + std::to_string(made);
      const std::string source = body_of(lamina::native_source(read));
      programs += "namespace " + number + " {  // " + name + "\n" + source + "}\n\n";
      table += "    {\"" + name + "\", " + number + "::net.view(), " +
               (in_double ? "true" : "false") + "},\n";
      reasons += name + "\t\n";
      ++made;
    } catch (const lamina::format_error& e) {
      std::string why = e.what();
      why.erase(0, why.find("expected"));
      if (why.find("an operator of training") != std::string::npos) {
        std::printf("%s: left out: %s\n", name.c_str(), why.c_str());
        continue;
      }
      ++refused;
      reasons += name + "\t" + why + "\n";
    }
  }
  lamina::write_file(folder + "/native.cpp",
                     "#include <array>\n#include <cstdio>\n#include <limits>\n\n"
                     "#include <interop/native_check.hpp>\n\n"
                     "#include <lamina/layers/layers.hpp>\n"
                     "#include <lamina/optimizer/minimize.hpp>\n"
                     "#include <lamina/optimizer/optimizers.hpp>\n"
                     "#include <lamina/program/composed_name.hpp>\n"
                     "#include <lamina/program/indexed.hpp>\n\n" +
                         programs + "const interop::native_case cases[] = {\n" + table +
                         "};\n\n"
                         "int main(int, char** argv) {\n"
                         "  std::FILE* const to = std::fopen(argv[2], \"w\");\n"
                         "  for (const interop::native_case& c : cases) {\n"
                         "    const std::string what = interop::difference(argv[1], c);\n"
                         "    std::fprintf(to, \"%s\\t%s\\n\", c.name, what.c_str());\n"
                         "  }\n"
                         "  return std::fclose(to);\n"
                         "}\n");
  lamina::write_file(folder + "/native.tsv", reasons);
  std::printf("%d cases are C++, %d are not\n", made, refused);
  return 0;
}

}  // namespace interop
