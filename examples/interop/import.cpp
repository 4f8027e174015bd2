// SPDX-License-Identifier: Apache-2.0
// import - makes C++ of a saved model: a header with its program, and a file with its parameters
//
//   import MODEL --out net.hpp   MODEL is an ONNX file, a net for sound (.nam, or RTNeural's
//   .json),
//                                or the folder that save_inference_model of lamina or PaddlePaddle
//                                wrote. Writes net.hpp and net.safetensors.
//                                Options: --name NAME of the program, --weights FILE for the
//                                parameters; of folders: --parameters FILE with all parameters;
//                                of ONNX files: --batch N for a symbolic first dimension, --dim
//                                NAME=VALUE for other symbolic dimensions;
//                                of nets for sound: --block N, the samples of one run
//   import                       saves LeNet to a temporary folder first, and prints its header
#include <cstdio>
#include <string>

#include <unistd.h>

#include <lamina/cli/import_main.hpp>
#include <lamina/io/model_files.hpp>
#include <lamina/layers/layers.hpp>

namespace layer = lamina::layer;

namespace {

constexpr auto lenet = lamina::program([](lamina::block& main) {
  auto image = layer::data<"image", float, 1, 28, 28>(main);
  constexpr lamina::window halves{.stride = 2};
  auto first =
      layer::simple_img_conv_pool<20, 5, 2, halves>(image, {.act = lamina::activation::relu});
  auto second =
      layer::simple_img_conv_pool<50, 5, 2, halves>(first, {.act = lamina::activation::relu});
  return layer::softmax(layer::fc<10>(second), {.name = "p"});
});

int import_example(const char* program) {
  std::string folder = "/tmp/lamina_import_XXXXXX";
  if (::mkdtemp(folder.data()) == nullptr) return 1;
  const lamina::model model{lenet, 1};
  lamina::save_inference_model(folder, model, {"p"});
  const std::string header = folder + "/lenet.hpp";
  const char* const arguments[] = {program,        folder.c_str(), "--out",
                                   header.c_str(), "--name",       "lenet"};
  const int failed = lamina::import_main(6, arguments);
  if (failed == 0) std::fputs(lamina::read_file(header).c_str(), stdout);
  return failed;
}

}  // namespace

int main(int argc, char** argv) {
  return argc > 1 ? lamina::import_main(argc, argv) : import_example(argv[0]);
}
