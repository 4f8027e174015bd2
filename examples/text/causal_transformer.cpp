// SPDX-License-Identifier: Apache-2.0
// causal_transformer - a decoder of two blocks learns to add: "27+58=" goes on with the sum
//
// The digits of a sum stand in reverse, 580 for 85, as one adds by hand. A tenth of all 10,000 sums
// is for testing: the net writes each of them digit by digit, after the digits that it wrote.
#include <array>
#include <cstdint>
#include <cstdio>
#include <vector>

#include <lamina/lamina.hpp>

namespace layer = lamina::layer;
namespace reader = lamina::reader;
using lamina::indexed;

constexpr int symbols = 12, plus = 10, equals = 11;  // and the digits
constexpr int asked = 6, answered = 3, length = asked + answered - 1;
constexpr int width = 32, heads = 4, blocks = 2;

constexpr auto net = lamina::program([](lamina::block& main) {
  auto text = layer::data<"text", std::int64_t, length, 1>(main);
  auto answer = layer::data<"answer", std::int64_t, answered, 1>(main);
  auto places = layer::create_parameter<float, length, width>(main, {.name = "places"});
  auto h = layer::embedding<symbols, width>(text) + places;
  for (int i = 0; i < blocks; ++i) {
    auto x = layer::layer_norm<2>(h, {.name = indexed("block", i, "norm")});
    x = layer::scaled_dot_product_attention<heads>(
        x, x, x, {.causal = true, .name = indexed("block", i, "attention")});
    h = h + layer::fc<width, 2>(x, {.name = indexed("block", i, "mixed")});
    x = layer::layer_norm<2>(h, {.name = indexed("block", i, "inner_norm")});
    auto inner = layer::fc<4 * width, 2>(
        x, {.act = lamina::activation::relu, .name = indexed("block", i, "inner")});
    h = h + layer::fc<width, 2>(inner, {.name = indexed("block", i, "outer")});
  }
  auto logits = layer::fc<symbols, 2>(layer::layer_norm<2>(h));
  auto next = layer::slice<layer::along<1, asked - 1, length>>(logits, {.name = "next"});
  return layer::mean(layer::softmax_with_cross_entropy(next, answer));
});

struct sample {
  std::array<std::int64_t, length> text;
  std::array<std::int64_t, answered> answer;
};

int main() {
  std::vector<sample> sums;
  for (int a = 0; a < 100; ++a)
    for (int b = 0; b < 100; ++b) {
      const int sum = a + b, ones = sum % 10, tens = sum / 10 % 10;
      sums.push_back(
          {{a / 10, a % 10, plus, b / 10, b % 10, equals, ones, tens}, {ones, tens, sum / 100}});
    }
  const auto [train, test] = sums | reader::split(0.9);
  constexpr int passes = 8, batch = 64, updates = passes * 9000 / batch;
  lamina::model model{net};
  lamina::optimizer::adam{.learning_rate =
                              lamina::schedule::polynomial_decay{4e-3f, updates, 1e-4f}}
      .train(model, train | reader::shuffle(9000) | reader::batch(batch),
             {.passes = passes, .on_event = lamina::progress_bar{passes}});

  int right = 0, all = 0;
  lamina::evaluator e{model};
  for (auto [text, answer] : reader::begin_pass(test)) {
    auto written = answer;
    for (int i = 0; i < answered; ++i) {
      for (int k = asked; k < length; ++k) text[k] = k < asked + i ? written[k - asked] : 0;
      e.forward(lamina::feed<"text">(text));
      const auto next = e.activation<"next">();
      written[i] = 0;
      for (int c = 1; c < 10; ++c)
        if (next(0, i, c) > next(0, i, written[i])) written[i] = c;
    }
    right += written == answer, ++all;
  }
  std::printf("%d of %d new sums are right\n", right, all);
  return right >= 0.98 * all ? 0 : 1;
}
