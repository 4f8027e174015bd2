// SPDX-License-Identifier: Apache-2.0
// The program of benchmarks/size.py in lamina, with a static evaluator.
#include "numbers.hpp"
#include "perceptron.hpp"

#include <lamina/model/static_evaluator.hpp>

int main(int count, char** argument) {
  if (count != 2) return 2;
  static float values[size_benchmark::parameters];
  size_benchmark::read(argument[1], values);
  static lamina::static_evaluator<decltype(net)> e;
  e.load(values);
  for (int i = 0; i < size_benchmark::inputs; ++i)
    e.input<"image">()[static_cast<std::size_t>(i)] = size_benchmark::pixel(i);
  e.forward();
  for (const float score : e.activation<"scores">()) size_benchmark::print(score);
}
