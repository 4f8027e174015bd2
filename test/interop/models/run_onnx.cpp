// SPDX-License-Identifier: Apache-2.0
// run_onnx - runs ONNX files by load_onnx and the executor, for run_onnx.py.
// run_onnx import - converts them to C++, for run_onnx_native.py.
//
// Reads folders from standard input, one a line, and for each writes a line: the folder, a tab, and
// "ran" or the reason why there is no result. A folder has model.onnx, which may also be
// named by a file `model`; feed/N.npy and feed/names, a name for each N, one a line; `fixed` with
// the names of inputs that are constants; and `dims` with extents of symbolic dimensions, NAME=N.
// The outputs become found/N.npy, in the order of the model. `import` makes net.hpp, with the
// program that the file `name` names, and net.safetensors.
#include <cstddef>
#include <cstdio>
#include <exception>
#include <fstream>
#include <iostream>
#include <map>
#include <string>
#include <vector>

#include <executor/shared_executor.hpp>

#include <lamina/codegen/import_onnx.hpp>
#include <lamina/io/load_onnx.hpp>
#include <lamina/io/npy.hpp>
#include <lamina/plan/real_type.hpp>

namespace {

std::vector<std::string> lines_of(const std::string& path) {
  std::vector<std::string> lines;
  std::ifstream from(path);
  for (std::string line; std::getline(from, line);) lines.push_back(line);
  return lines;
}

// A scalar has the shape [1] in lamina.
lamina::tensor without_scalar(lamina::tensor value) {
  return value.rank() == 0 ? lamina::onnx_import::with_shape(value, {1}) : value;
}

struct onnx_case {
  std::string model;
  lamina::onnx_load_options options{};
  lamina::feed_map feed{};
};

onnx_case case_of(const std::string& folder) {
  const std::vector<std::string> other = lines_of(folder + "/model");
  onnx_case made{other.empty() ? folder + "/model.onnx" : other[0]};
  for (const std::string& line : lines_of(folder + "/dims"))  // NAME=EXTENT
    if (const std::size_t equals = line.find('='); equals != std::string::npos)
      made.options.dims[line.substr(0, equals)] = std::stol(line.substr(equals + 1));
  const std::vector<std::string> names = lines_of(folder + "/feed/names");
  std::map<std::string, bool> fixed;
  for (const std::string& name : lines_of(folder + "/fixed")) fixed[name] = true;
  for (std::size_t i = 0; i < names.size(); ++i) {
    lamina::tensor value = lamina::load_npy(folder + "/feed/" + std::to_string(i) + ".npy");
    if (fixed.count(names[i]) != 0)
      made.options.fixed[names[i]] = std::move(value);
    else
      made.feed[names[i]] = lamina::lod_tensor(without_scalar(std::move(value)));
  }
  return made;
}

void run_case(const std::string& folder) {
  const onnx_case c = case_of(folder);
  const lamina::inference_model m = lamina::load_onnx(c.model, c.options);
  std::vector<lamina::lod_tensor> found;
  if (lamina::real_type(m.program.view()) == lamina::dtype::float64)
    found = lamina::basic_executor<double>().run(m.program, *m.variables, c.feed);
  else
    found = lamina::executor().run(m.program, *m.variables, c.feed);
  for (std::size_t i = 0; i < found.size(); ++i)
    lamina::save_npy(folder + "/found/" + std::to_string(i) + ".npy", found[i]);
}

void import_case(const std::string& folder) {
  lamina::onnx_import_options options;
  options.load = case_of(folder).options;
  options.name = lines_of(folder + "/name").at(0);
  lamina::import_onnx(case_of(folder).model, folder + "/net.hpp", options);
}

}  // namespace

int main(int argc, char** argv) {
  const bool imports = argc > 1 && argv[1] == std::string("import");
  std::ios::sync_with_stdio(false);
  for (std::string folder; std::getline(std::cin, folder);) {
    std::string result = "ran";
    try {
      (imports ? import_case : run_case)(folder);
    } catch (const std::exception& e) {
      result = e.what();
      for (char& c : result)
        if (c == '\n' || c == '\t') c = ' ';
    }
    std::printf("%s\t%s\n", folder.c_str(), result.c_str());
    std::fflush(stdout);
  }
}
