// SPDX-License-Identifier: Apache-2.0
// Kernels of many kinds, to be compiled for processors that this machine may not have.
#include <tuple>
#include <vector>

#include <lamina/lamina.hpp>
#include <lamina/model/bfloat16/bfloat16_machine.hpp>

namespace layer = lamina::layer;

constexpr auto pictures = lamina::program([](lamina::block& main) {
  auto image = layer::data<"image", float, 3, 16, 16>(main);
  auto label = layer::data<"label", std::int64_t>(main);
  auto hidden = layer::conv2d<8, 5>(image, {.bias = false});
  hidden = layer::batch_norm(hidden, {.act = lamina::activation::relu});
  auto pooled = layer::pool2d<2, lamina::window{.stride = 2}>(hidden);
  auto wide = layer::layer_norm(layer::fc<64>(pooled, {.act = lamina::activation::tanh}));
  auto logits = layer::fc<10>(layer::dropout(layer::gelu(wide), 0.5f), {.name = "logits"});
  return layer::mean(layer::softmax_with_cross_entropy(logits, label));
});

constexpr auto speech = lamina::program([](lamina::block& main) {
  auto frames = layer::sequence<"frames", float, 13>(main);
  auto text = layer::sequence<"text", std::int64_t>(main);
  auto [hidden, cell] = layer::dynamic_lstm<4 * 16>(layer::fc<4 * 16>(frames));
  auto logits = layer::fc<5>(hidden, {.name = "logits"});
  auto fading = layer::mean(layer::log(layer::softplus(cell)));
  return layer::mean(layer::warpctc(logits, text)) - fading;
});

template <auto& Net, class Sample>
void trains(const std::vector<Sample>& samples) {
  lamina::model model{Net};
  lamina::optimizer::adam{.learning_rate = 1e-3f}.train(model, samples | lamina::reader::batch(16),
                                                        {.passes = 1});
  lamina::evaluator e{model, lamina::storage::bfloat16};
  e.test(samples | lamina::reader::batch(16));
}

int main() {
  trains<pictures>(std::vector<std::tuple<std::vector<float>, std::int64_t>>{});
  trains<speech>(
      std::vector<std::tuple<std::vector<std::vector<float>>, std::vector<std::int64_t>>>{});
}
