// SPDX-License-Identifier: Apache-2.0
// Several threads for one large request.

#include "model/samples.hpp"

#include <lamina/model/evaluation/loops_on_threads.hpp>
#include <lamina/model/gradient_machine.hpp>

namespace layer = lamina::layer;

namespace {

constexpr auto wide = lamina::program([](lamina::block& main) {
  auto image = layer::data<"image", float, 1, 16, 16>(main);
  auto label = layer::data<"label", std::int64_t>(main);
  constexpr lamina::window same{.padding = 1}, half{.stride = 2};
  auto seen =
      layer::pool2d<2, half>(layer::conv2d<4, 3, same>(image, {.act = lamina::activation::relu}));
  auto parts = layer::reshape<8, 32>(layer::dropout(layer::fc<256>(seen), 0.1f));
  constexpr lamina::layer::matmul_form by_rows{.transpose_y = true};
  const auto by_heads = [](auto v) {
    return layer::transpose<0, 2, 1, 3>(layer::reshape<8, 2, 16>(v));
  };
  auto heads = by_heads(parts);
  auto weights = layer::softmax(layer::matmul<by_rows>(heads, heads, {.alpha = 0.2f}));
  auto turned =
      layer::transpose<0, 2, 1, 3>(layer::matmul(weights, by_heads(layer::fc<32, 2>(parts))));
  auto mixed = layer::layer_norm<2>(layer::reshape<8, 32>(turned));
  auto logits = layer::fc<128>(layer::transpose<0, 2, 1>(mixed), {.name = "output"});
  return layer::mean(layer::softmax_with_cross_entropy(logits, label)) +
         layer::mean(layer::square(logits));  // of 130 rows so many that threads share the sum
});

struct batch {
  explicit batch(std::size_t rows) : image(rows * 256), label(rows) {
    for (std::size_t i = 0; i < image.size(); ++i)
      image[i] = static_cast<float>(i * 7919 % 1000) / 500.0f - 1;
    for (std::size_t i = 0; i < rows; ++i) label[i] = static_cast<std::int64_t>(i % 3);
  }
  std::vector<float> image;
  std::vector<std::int64_t> label;
};

}  // namespace

TEST_CASE("what one of several threads finds wrong reaches the caller", "[threads]") {
  const lamina::model m{wide, 3};
  lamina::worker_pool pool(2);
  lamina::gradient_machine g{m};
  lamina::loops_on_threads loops(g, pool);
  batch b(130);  // so many that the costs are computed in parts
  const void* arrays[] = {b.image.data(), b.label.data()};
  const float cost = g.backward(130, arrays);
  for (const std::size_t wrong : {std::size_t{0}, std::size_t{129}}) {
    b.label[wrong] = 128;
    CHECK_THROWS_AS(g.backward(130, arrays), lamina::error);
    b.label[wrong] = 0;
  }
  b.label[129] = 0;
  CHECK(g.backward(130, arrays) == cost);
}
