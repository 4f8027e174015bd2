// SPDX-License-Identifier: Apache-2.0
// Inference with the executor, from files that the executor of PaddlePaddle reads too. X2 is the
// LeNet of W2 with batches of 64, X2b the same with batches of 1. X3 is the sentiment LSTM of W3 on
// 32 sequences of 10 to 100 words.
#include <memory>

#include "../workload.hpp"

#include <lamina/executor/executor.hpp>
#include <lamina/io/inference_model.hpp>

namespace layer = lamina::layer;
using lamina::activation;

namespace {

constexpr auto lenet = lamina::program([](lamina::block& main) {
  constexpr lamina::window half{.stride = 2};
  auto image = layer::data<"image", float, 1, 28, 28>(main);
  auto c1 = layer::simple_img_conv_pool<20, 5, 2, half>(image, {.act = activation::relu});
  auto c2 = layer::simple_img_conv_pool<50, 5, 2, half>(c1, {.act = activation::relu});
  return layer::fc<10>(layer::fc<500>(c2, {.act = activation::relu}));
});

constexpr int words = 5000, width = 128;
constexpr auto sentiment = lamina::program([](lamina::block& main) {
  auto text = layer::sequence<"words", std::int64_t>(main);
  auto embedded = layer::embedding<words, width>(text);
  auto [hidden, cell] = layer::dynamic_lstm<4 * width>(
      layer::fc<4 * width>(embedded, {.bias = false}), {.use_peepholes = false});
  return layer::fc<2>(layer::sequence_pool(hidden, {.type = lamina::pooling_type::max}));
});

/// Saves a program with its initial parameters, reads the files, and makes the job that runs the
/// program which was read.
workload::job inference(const std::filesystem::path& path, const lamina::program_view& program,
                        const lamina::feed_map& feed) {
  auto executor = std::make_shared<lamina::basic_executor<float>>();
  lamina::scope first;
  executor->run_startup(program, first, 1);
  const std::string directory = (path / "model").string();
  save_inference_model(directory, program, first, {variable_name(program, program.outputs[0])});
  auto model = std::make_shared<lamina::inference_model>(lamina::load_inference_model(directory));
  const auto once = [executor, model, feed] {
    return executor->run(model->program, *model->variables, feed)[0];
  };
  return {[once] {
            const lamina::lod_tensor result = once();
            const auto& values = result.as<float>();
            return std::vector<float>(values.begin(), values.end());
          },
          [once](int n) {
            for (int i = 0; i < n; ++i) once();
          }};
}

workload::maker images(std::size_t rows) {
  return [rows](const std::filesystem::path& path, int) {
    const std::vector<std::size_t> shape{rows, 1, 28, 28};
    const std::vector<float> values = workload::normal(rows * 28 * 28, 1);
    workload::folder(path).write("image", values, shape);
    return inference(path, lenet.view(), {{"image", lamina::tensor(shape, values)}});
  };
}

workload::job sentences(const std::filesystem::path& path, int) {
  constexpr std::size_t rows = 32;
  std::vector<std::vector<std::int64_t>> batch;
  std::vector<std::int64_t> lengths, all;
  for (unsigned i = 0; i < rows; ++i) {
    batch.push_back(workload::labels(10 + i * 90 / (rows - 1), words, i + 1));
    lengths.push_back(static_cast<std::int64_t>(batch[i].size()));
    all.insert(all.end(), batch[i].begin(), batch[i].end());
  }
  const workload::folder to(path);
  to.write("words", all, {all.size(), 1});
  to.write("words.lengths", lengths, {rows});
  return inference(path, sentiment.view(), {{"words", lamina::sequences<std::int64_t>(batch)}});
}

}  // namespace

int main(int count, char** argument) {
  return workload::serve(count, argument,
                         {{"X2", images(64)}, {"X2b", images(1)}, {"X3", sentences}});
}
