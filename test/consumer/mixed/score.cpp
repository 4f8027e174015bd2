// SPDX-License-Identifier: Apache-2.0
// SCORE() computes a number with a model of its own, FAIL() throws; compiled once for each
// instruction set, or for each plugin.
#include <vector>

#include "net.hpp"

extern "C" double SCORE() {
  model_type model{net};
  std::vector<float> x(24);
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>(i % 7) / 7 - 0.4f;
  lamina::evaluator evaluator{model};
  evaluator.forward(lamina::feed<"x">(x));
  const auto scores = evaluator.activation<"score">();
  double sum = WIDTH;
  for (int i = 0; i < 5; ++i) sum += static_cast<double>(scores(0, i)) * (i + 1);
  return sum;
}

extern "C" void FAIL() {
  model_type model{net};
  model.load("no such file");
}
