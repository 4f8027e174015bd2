// SPDX-License-Identifier: Apache-2.0
// export - trains a net for digits and writes it for ONNX Runtime, PaddlePaddle and PyTorch
//
//   examples/run export [FOLDER]    default: exported_digits; says how to open each file
#include <cstdio>
#include <string>

#include <lamina/io/export_onnx.hpp>
#include <lamina/io/model_files.hpp>
#include <lamina/io/safetensors.hpp>
#include <lamina/lamina.hpp>

namespace layer = lamina::layer;
namespace reader = lamina::reader;

constexpr auto digits = lamina::program([](lamina::block& main) {
  auto image = layer::data<"image", float, 64>(main);
  auto label = layer::data<"label", std::int64_t>(main);
  auto hidden = layer::fc<32>(image, {.act = lamina::activation::relu, .name = "hidden"});
  auto logits = layer::fc<10>(hidden, {.name = "logits"});
  layer::softmax(logits, {.name = "probabilities"});
  layer::accuracy(logits, label, {.name = "accuracy"});
  return layer::mean(layer::softmax_with_cross_entropy(logits, label));
});

// Sets a new model to the parameters of the file; returns whether both models have the same.
bool reads_again(const std::string& path,
                 const lamina::model<std::remove_const_t<decltype(digits)>>& trained) {
  lamina::model again{digits, 7};
  const lamina::load_report report = load_safetensors(path, again);
  for (int i = 0; i < trained.parameter_arrays(); ++i)
    if (!(again.get(i) == trained.get(i))) return false;
  return report.complete();
}

int main(int count, char** argument) try {
  const std::string folder = count > 1 ? argument[1] : "exported_digits";
  lamina::model model{digits};
  lamina::optimizer::adam{.learning_rate = 3e-3f}.train(
      model, lamina::dataset::digits::train() | reader::shuffle(2000) | reader::batch(16),
      {.passes = 10});
  lamina::evaluator e{model};
  const double accuracy =
      e.test(lamina::dataset::digits::test() | reader::batch(64)).metric("accuracy");
  std::printf("accuracy %.3f\n", accuracy);

  lamina::make_directories(folder);
  lamina::export_onnx(folder + "/digits.onnx", model, {"probabilities"});
  lamina::save_inference_model(folder, model, {"probabilities"},
                               {"digits.pdmodel", "digits.pdiparams"});
  lamina::save_safetensors(folder + "/digits.safetensors", model);

  e.forward(lamina::feed<"image">(lamina::dataset::digits::test()[0].image));
  const auto probabilities = e.activation<"probabilities">();
  std::printf("probabilities of the first test image:");
  for (int digit = 0; digit < 10; ++digit)
    std::printf(" %.4f", static_cast<double>(probabilities(0, digit)));
  std::printf(R"(

ONNX Runtime:
  session = onnxruntime.InferenceSession("%s/digits.onnx")
  session.run(None, {"image": images})    # float32 [rows, 64]
PaddlePaddle:
  paddle.enable_static()                  # with paddle 3: FLAGS_enable_pir_api=0 python3 ...
  executor = paddle.static.Executor()
  program, feeds, fetches = paddle.static.load_inference_model("%s/digits", executor)
  executor.run(program, feed={"image": images}, fetch_list=fetches)
PyTorch:
  values = safetensors.torch.load_file("%s/digits.safetensors")
  hidden = torch.nn.Linear(64, 32)
  hidden.load_state_dict({"weight": values["hidden.w_0"].T, "bias": values["hidden.b_0"]})
)",
              folder.c_str(), folder.c_str(), folder.c_str());
  return accuracy >= 0.9 && reads_again(folder + "/digits.safetensors", model) ? 0 : 1;
} catch (const lamina::error& e) {
  std::fprintf(stderr, "%s\n", e.what());
  return 1;
}
