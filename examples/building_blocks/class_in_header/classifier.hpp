// SPDX-License-Identifier: Apache-2.0
// class_in_header/classifier.hpp - a class with a model and an evaluator as members.
#pragma once

#include <array>

#include <lamina/lamina.hpp>

// A program in a header is `inline constexpr`: every file that includes it then means the same one.
inline constexpr auto digit_net = lamina::program([](lamina::block& main) {
  auto image = lamina::layer::data<"image", float, 64>(main);
  auto label = lamina::layer::data<"label", std::int64_t>(main);
  auto hidden = lamina::layer::fc<64>(image, {.act = lamina::activation::relu});
  auto logits = lamina::layer::fc<10>(hidden, {.name = "output"});
  lamina::layer::accuracy(logits, label, {.name = "accuracy"});
  return lamina::layer::mean(lamina::layer::softmax_with_cross_entropy(logits, label));
});

class digit_classifier {
 public:
  void train(int passes);  // training.cpp: the one file that compiles the training step
  double accuracy();       // on the test samples
  int classify(const std::array<float, 64>& image);

 private:
  lamina::model_of<digit_net> model_{digit_net};
  lamina::evaluator_of<digit_net> evaluator_{model_};  // behind the model, to which it refers
};
