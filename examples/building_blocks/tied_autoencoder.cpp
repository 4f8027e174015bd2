// SPDX-License-Identifier: Apache-2.0
// tied_autoencoder - one matrix encodes digits to 12 numbers and, transposed, decodes them
#include <cstdio>
#include <vector>

#include <lamina/inspect/summary.hpp>
#include <lamina/lamina.hpp>

namespace layer = lamina::layer;
namespace reader = lamina::reader;

constexpr auto net = lamina::program([](lamina::block& main) {
  auto image = layer::data<"image", float, 64>(main);
  auto w = layer::create_parameter<float, 64, 12>(main, {.name = "w"});
  auto b = layer::create_parameter<float, 64>(
      main, {.name = "decoder_bias", .initializer = lamina::init::constant(0)});
  auto code = layer::matmul(image, w, {.name = "code"});
  auto decoded = layer::matmul<layer::matmul_form{.transpose_y = true}>(code, w) + b;
  return layer::mean(layer::square_error_cost(decoded, image));
});

struct sample {
  std::array<float, 64> image;
};

int main() {
  std::printf("%s\n", lamina::summary(net).text().c_str());
  const auto images = [](const auto& all) {
    std::vector<sample> some;
    for (const auto& s : all) some.push_back({s.image});
    return some;
  };
  const auto test = images(lamina::dataset::digits::test());

  lamina::model model{net};
  const double before = lamina::evaluator{model}.test(test | reader::batch(64)).cost;
  lamina::optimizer::adam adam{.learning_rate = 3e-3f};
  adam.train(model,
             images(lamina::dataset::digits::train()) | reader::shuffle(2000) | reader::batch(16),
             {.passes = 15});
  const double after = lamina::evaluator{model}.test(test | reader::batch(64)).cost;
  std::printf("mean squared error of a pixel: %.4f before, %.4f after\n", before, after);
  return after < 0.02 && model.parameter_arrays() == 2 ? 0 : 1;
}
