// SPDX-License-Identifier: Apache-2.0
// class_in_header - a model as a member of a class that two files use (class_in_header/)
#include <cstdio>

#include "class_in_header/classifier.hpp"

double digit_classifier::accuracy() {
  return evaluator_.test(lamina::dataset::digits::test() | lamina::reader::batch(64))
      .metric("accuracy");
}

int digit_classifier::classify(const std::array<float, 64>& image) {
  evaluator_.forward(lamina::feed<"image">(image));
  const auto scores = evaluator_.activation<"output">();
  int best = 0;
  for (int i = 1; i < 10; ++i)
    if (scores(0, i) > scores(0, best)) best = i;
  return best;
}

int main() {
  digit_classifier c;
  c.train(10);
  const auto first = lamina::dataset::digits::test()[0];
  std::printf("a %d is taken for a %d\n", static_cast<int>(first.label), c.classify(first.image));
  const double accuracy = c.accuracy();
  std::printf("test accuracy %.4f\n", accuracy);
  return accuracy >= 0.93 ? 0 : 1;
}
